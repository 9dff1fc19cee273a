// Two builds of one source: tsc makes the library with its types; esbuild makes the command, split so that
// what a run does not need is never loaded, and as CommonJS, which starts faster than modules do
// (docs/decisions/0002-two-builds.md).
import { build, transform } from "esbuild";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const OUT = "dist/bin";

/**
 * commander loads child_process (and with it net, dgram …) at once, for subcommands that are programs of their
 * own. There are none here, so the start-up does not pay for them.
 */
const withoutStandaloneCommands = {
  name: "without-standalone-commands",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?child_process$/ }, ({ importer }) =>
      /node_modules.commander./.test(importer) ? { path: "none", namespace: "none" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "none" }, () => ({ contents: "module.exports = {};" }));
  },
};

rmSync("dist", { recursive: true, force: true });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
const { metafile, outputFiles } = await build({
  entryPoints: { linefeed: "src/cli/main.ts" },
  outdir: OUT,
  bundle: true,
  splitting: true,
  write: false,
  format: "esm",
  platform: "node",
  target: "node20",
  metafile: true,
  plugins: [withoutStandaloneCommands],
  legalComments: "none",
  logLevel: "warning",
});
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, "package.json"), '{ "type": "commonjs" }\n');
for (const { path, text } of outputFiles) {
  // esbuild splits modules only, so each piece is turned into CommonJS by itself.
  const { code } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: "node20",
    supported: { "dynamic-import": false },
    // Only to find the package with ripgrep from where we are; createRequire takes either.
    define: { "import.meta.url": "__filename" },
  });
  writeFileSync(join(OUT, basename(path)), code);
}
chmodSync(join(OUT, "linefeed.js"), 0o755);
// What ended up in which file, for the test that guards the start-up path.
writeFileSync("dist/metafile.json", JSON.stringify(metafile));
