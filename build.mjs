// Two builds of one source: tsc makes the library with its types; esbuild makes the command, split so that
// what a run does not need is never loaded, and as CommonJS, which starts faster than modules do
// (docs/decisions/0002-two-builds.md).
import { build, transform } from "esbuild";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const OUT = "dist/bin";

/** From modules, since that is what is split, to what starts fastest. */
const TO_COMMONJS = {
  format: "cjs",
  platform: "node",
  target: "node20",
  supported: { "dynamic-import": false },
  // A third less to read with every start; names stay, so that stack traces say something.
  minifyWhitespace: true,
  // Only to find the package with ripgrep from where we are; createRequire takes either.
  define: { "import.meta.url": "__filename" },
};

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
  // A CommonJS package that is loaded on use loses its names on the way through two formats; it lies beside us anyway.
  external: ["undici", "ioredis"],
  legalComments: "none",
  logLevel: "warning",
});
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, "package.json"), '{ "type": "commonjs" }\n');
const modules = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
const pieces = new Map();
const withMain = staticPieces(entryPiece("src/cli/main.ts"));
const withProgram = await pack("src/cli/program.ts", withMain);
await pack("src/run/assemble-agent.ts", withProgram);
for (const [name, text] of modules) {
  // esbuild splits modules only, so each of the other pieces is turned into CommonJS by itself.
  if (!pieces.has(name)) pieces.set(name, (await transform(text, TO_COMMONJS)).code);
}
for (const [name, code] of pieces) writeFileSync(join(OUT, name), code);
chmodSync(join(OUT, "linefeed.js"), 0o755);
// What ended up in which file, for the test that guards the start-up path.
writeFileSync("dist/metafile.json", JSON.stringify(metafile));

/**
 * What is loaded in one go becomes one file and one scope: to open some sixty small ones, or to tie their exports to their
 * imports, takes longer than to run them. The pieces stay there by name for whoever shares them.
 * @param source the file that is loaded. @param before the pieces that are loaded already.
 */
async function pack(source, before) {
  const reached = staticPieces(entryPiece(source));
  const packed = [...reached].filter((name) => !before.has(name));
  const file = `packed-${basename(source, ".ts")}.js`;
  const { outputFiles: packs } = await build({
    ...TO_COMMONJS,
    stdin: {
      contents: packed.map((name, index) => `export * as piece${index} from "./${name}";`).join("\n"),
    },
    bundle: true,
    write: false,
    plugins: [fromModules(packed)],
    logLevel: "warning",
  });
  pieces.set(file, packs[0].text);
  for (const [index, name] of packed.entries())
    pieces.set(name, `module.exports = require("./${file}").piece${index};\n`);
  return new Set([...before, ...packed]);
}

/** Takes these pieces into a bundle, and leaves all else where it is. */
function fromModules(packed) {
  return {
    name: "from-modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind }) => {
        const name = basename(path);
        const taken = path.startsWith("./") && packed.includes(name) && kind !== "dynamic-import";
        return taken ? { path: name, namespace: "modules" } : { path, external: true };
      });
      onLoad({ filter: /.*/, namespace: "modules" }, ({ path }) => ({
        contents: modules.get(path),
        loader: "js",
      }));
    },
  };
}

function entryPiece(source) {
  const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source);
  return path;
}

/** The names of the pieces that are loaded with one, itself included. */
function staticPieces(path, found = new Set()) {
  found.add(basename(path));
  for (const { path: next, kind, external } of metafile.outputs[path].imports) {
    if (kind === "import-statement" && !external && !found.has(basename(next))) staticPieces(next, found);
  }
  return found;
}
