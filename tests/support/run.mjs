// Runs a TypeScript program of the tests, which Node 20 cannot read: `node tests/support/run.mjs tests/soak/main.ts …`.
// The program exports `main(args)`.
import { build } from "esbuild";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [entry, ...args] = process.argv.slice(2);
const outfile = resolve("node_modules/.cache", entry.replaceAll(/[/.]/g, "-") + ".mjs");
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
});
const { main } = await import(pathToFileURL(outfile).href);
await main(args);
