import { build } from "esbuild";
import { expect, it } from "vitest";
import { isToolName, loadTools, TOOL_NAMES, toolDefinition } from "../../src/tools/registry.ts";

it("loads the tools that are asked for, in the order of the list", async () => {
  expect((await loadTools(["Read", "Bash"])).map(({ name }) => name)).toEqual(["Bash", "Read"]);
  expect((await loadTools(TOOL_NAMES)).map(({ name }) => name)).toEqual(TOOL_NAMES);
  expect(await loadTools([])).toEqual([]);
});

it("knows its names", () => {
  expect(TOOL_NAMES.every(isToolName)).toBe(true);
  expect(["bash", "toString", ""].some(isToolName)).toBe(false);
});

it("describes each tool by the schema that validates its arguments", async () => {
  const [bash, read] = (await loadTools(["Bash", "Read"])).map(toolDefinition);
  expect(bash?.inputSchema).toEqual({
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, description: expect.any(String) },
      timeout: { type: "integer", minimum: 1, maximum: 3_600_000, description: expect.any(String) },
      description: { type: "string", description: expect.any(String) },
    },
    required: ["command"],
    additionalProperties: false,
  });
  expect(read?.inputSchema).toMatchObject({ type: "object", required: ["file_path"] });
  expect(JSON.parse(JSON.stringify(read))).toEqual(read);
  expect(read?.description).toMatch(/\S/);
});

it("names them without loading zod", async () => {
  const result = await build({
    stdin: { contents: 'export { TOOL_NAMES } from "./src/tools/registry.ts";', resolveDir: process.cwd() },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: "out",
    platform: "node",
    format: "esm",
  });
  const { outputs } = result.metafile;
  const loadedAtOnce = new Set(
    Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === "<stdin>"),
  );
  for (const path of loadedAtOnce) {
    const imports = outputs[path]?.imports.filter(({ kind }) => kind === "import-statement") ?? [];
    for (const { path: imported } of imports) loadedAtOnce.add(imported);
  }
  const inputs = [...loadedAtOnce].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  expect(inputs.toSorted()).toEqual(["<stdin>", "src/tools/registry.ts"]);
});
