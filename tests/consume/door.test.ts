import { build } from "esbuild";
import { expect, it } from "vitest";

it("the door loads nothing but itself: no schema library, no agent", async () => {
  const { metafile } = await build({
    entryPoints: ["src/consume/index.ts"],
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
  });
  const strangers = Object.keys(metafile.inputs).filter((path) => !path.startsWith("src/consume/"));
  expect(strangers.toSorted()).toEqual([
    "src/protocol/errors.ts",
    "src/protocol/exit-codes.ts",
    "src/protocol/process-mark.ts",
    "src/protocol/usage.ts",
    "src/protocol/version.ts",
    "src/protocol/words.ts",
  ]);
  const dialects = Object.keys(metafile.inputs).filter((path) => path.startsWith("src/consume/dialects/"));
  expect(dialects).toContain("src/consume/dialects/claude.ts");
  const loaded = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  // Node's own, small ones: those beside node:stream are for starting linefeed.
  expect([...new Set(loaded.map(({ path, kind }) => `${kind} ${path}`))].toSorted()).toEqual([
    "dynamic-import node:fs",
    "import-statement node:child_process",
    "import-statement node:fs",
    "import-statement node:stream",
    "import-statement node:timers/promises",
    "import-statement node:url",
  ]);
});

it("what reads the streams of other agents is loaded with the first of them, each agent by itself", async () => {
  const { metafile } = await build({
    entryPoints: { door: "src/consume/index.ts" },
    outdir: "out",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
  });
  const chunks = metafile.outputs;
  const entry = Object.keys(chunks).find((path) => chunks[path]?.entryPoint === "src/consume/index.ts") ?? "";
  const inputs = new Set<string>();
  const visit = (path: string): void => {
    for (const input of Object.keys(chunks[path]?.inputs ?? {})) inputs.add(input);
    for (const { path: next, kind, external } of chunks[path]?.imports ?? [])
      if (kind === "import-statement" && !external) visit(next);
  };
  visit(entry);
  expect([...inputs].filter((path) => path.includes("/dialects/")).toSorted()).toEqual([
    "src/consume/dialects/detect.ts",
    "src/consume/dialects/stream-parser.ts",
  ]);
});
