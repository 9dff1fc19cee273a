import type { ToolResult } from "./tool.ts";

/** The result of a call without a process that did what it was asked. */
export function success(content: ToolResult["content"], truncated = false): ToolResult {
  return { status: "ok", content, exitCode: null, truncated, outputFile: null };
}

/** The result of a call without a process that did not; `content` tells the model why. */
export function failure(content: string, status: ToolResult["status"] = "error"): ToolResult {
  return { status, content, exitCode: null, truncated: false, outputFile: null };
}
