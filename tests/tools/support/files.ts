import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tool, ToolContext } from "../../../src/tools/tool.ts";
import { callContext, finish, temporaryFolder, type FinishedCall } from "./call.ts";

/** A folder that holds these files, made in this order. */
export function folderWith(contents: Record<string, string | Buffer>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Asks a tool for its access, lets something happen, and runs the call to its end. */
export async function callTool<Input>(
  tool: Tool<Input>,
  input: Input,
  more: Partial<ToolContext> & { between?: () => void } = {},
): Promise<FinishedCall> {
  const { between, ...rest } = more;
  const context = callContext(rest);
  await tool.access(input, context.cwd);
  between?.();
  return finish(tool.run(input, context));
}

/** Every file and folder under a folder, by path from there. */
export function treeOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
}

/** A folder's mode, for a while. Root may do everything, so tests about rights skip it. */
export function withMode(folder: string, mode: number): { restore(): void } {
  chmodSync(folder, mode);
  return { restore: () => chmodSync(folder, 0o755) };
}

export const isRoot = process.getuid?.() === 0;
