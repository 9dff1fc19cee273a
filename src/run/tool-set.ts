import { DEFINITIONS } from "../tools/definitions.generated.ts";
import { loadTools, toolDefinition, type ToolDefinition, type ToolName } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";

/** A tool that is offered: one of ours, loaded when it is needed, or one that the caller brings. */
export type OfferedTool = ToolName | Tool;

export function nameOfTool(tool: OfferedTool): string {
  return typeof tool === "string" ? tool : tool.name;
}

/** What the model is told of the tools; ours need not be loaded for it. */
export function definitionsOf(tools: readonly OfferedTool[]): ToolDefinition[] {
  return tools.map((tool) => (typeof tool === "string" ? DEFINITIONS[tool] : toolDefinition(tool)));
}

/** The tools themselves. */
export async function loadOffered(tools: readonly OfferedTool[]): Promise<readonly Tool[]> {
  const ours = await loadTools(tools.filter((tool) => typeof tool === "string"));
  return [...ours, ...tools.filter((tool) => typeof tool !== "string")];
}
