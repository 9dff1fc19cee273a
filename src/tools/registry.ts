import type { Tool } from "./tool.ts";

// The names must be known before `init` is printed, the tools only when a model is asked: they load zod.
const LOADERS = {
  Bash: async (): Promise<Tool> => (await import("./bash.ts")).bashTool,
  Read: async (): Promise<Tool> => (await import("./read.ts")).readTool,
  Write: async (): Promise<Tool> => (await import("./write.ts")).writeTool,
  Edit: async (): Promise<Tool> => (await import("./edit.ts")).editTool,
  Glob: async (): Promise<Tool> => (await import("./glob.ts")).globTool,
  Grep: async (): Promise<Tool> => (await import("./grep.ts")).grepTool,
} as const satisfies Record<string, () => Promise<Tool>>;

export type ToolName = keyof typeof LOADERS;

/** Every tool, in the order in which the model is shown them. */
export const TOOL_NAMES: readonly ToolName[] = ["Bash", "Read", "Write", "Edit", "Glob", "Grep"];

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(LOADERS, name);
}

/** Loads the tools with these names, in the order of `TOOL_NAMES`. Loading none loads nothing. */
export async function loadTools(names: readonly ToolName[]): Promise<Tool[]> {
  return Promise.all(TOOL_NAMES.filter((name) => names.includes(name)).map((name) => LOADERS[name]()));
}

/** A tool as the model is told of it. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema. */
  inputSchema: Record<string, unknown>;
}

/** What the model is told of a tool; the schema is made from the one that validates the arguments. */
export function toolDefinition(tool: Tool): ToolDefinition {
  // Providers want the bare schema; some refuse a `$schema`.
  const {
    $schema: _schema,
    "~standard": _standard,
    ...inputSchema
  } = tool.input.toJSONSchema({ io: "input" });
  return { name: tool.name, description: tool.description, inputSchema };
}
