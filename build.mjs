// Two builds of one source: tsc makes the library with its types; esbuild makes the command, split so that
// what a run does not need is never loaded (docs/decisions/0002-two-builds.md).
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], { stdio: "inherit" });
const { metafile } = await build({
  entryPoints: { linefeed: "src/cli/main.ts" },
  outdir: "dist/bin",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  metafile: true,
  legalComments: "linked",
  // Packages that are CommonJS call require for Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
chmodSync("dist/bin/linefeed.js", 0o755);
// What ended up in which file, for the test that guards the start-up path.
writeFileSync("dist/metafile.json", JSON.stringify(metafile));
