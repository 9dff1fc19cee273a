import { expect, it } from "vitest";
import { loadTools, TOOL_NAMES, toolDefinition } from "../../src/tools/registry.ts";

// `vitest -u` writes the file: what the model is told must be known before the tools, and zod, are loaded.
it("definitions.generated.ts is what the tools say", async () => {
  const tools = await loadTools(TOOL_NAMES);
  const definitions = Object.fromEntries(tools.map((tool) => [tool.name, toolDefinition(tool)]));
  const source = `// Made from the tools by tests/tools/definitions.test.ts (vitest -u); do not edit.
import type { ToolDefinition, ToolName } from "./registry.ts";

export const DEFINITIONS: Record<ToolName, ToolDefinition> = ${JSON.stringify(definitions, null, 2)};
`;
  await expect(source).toMatchFileSnapshot("../../src/tools/definitions.generated.ts");
});
