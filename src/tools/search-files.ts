// What Glob and Grep have in common: which files there are, what they are called, and how a search ends.
import { stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "./paths.ts";
import { failure } from "./results.ts";
import type { SearchEnd } from "./ripgrep.ts";
import { errorCode, systemMessage } from "./text.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/**
 * Hidden files are searched, the insides of `.git` are not. What .gitignore, .ignore and .rgignore name is left
 * out, in a folder without git too.
 */
export const FILE_RULES = ["--hidden", "--no-require-git", "--color=never"] as const;
/** Behind every glob of the model's, since the last one decides. */
export const NO_GIT = "--glob=!.git";

/** Where to search. */
export interface Target {
  /** The folder that ripgrep works in: absolute, a real path. */
  folder: string;
  /** What it searches, from there. */
  path: string;
}

/**
 * @param path the approved path: a folder, or a file.
 * @returns why it cannot be searched, if it cannot.
 */
export async function findTarget(
  path: string,
  requested: string,
): Promise<{ target: Target } | { problem: string }> {
  try {
    const facts = await stat(path);
    if (facts.isDirectory()) return { target: { folder: path, path: "./" } };
    if (facts.isFile()) return { target: { folder: dirname(path), path: `./${basename(path)}` } };
    return { problem: `${requested} is neither a folder nor a regular file; it was not searched.` };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { problem: `${requested} does not exist.` };
    return { problem: `${requested} cannot be searched: ${systemMessage(error)}` };
  }
}

/** The absolute path of what ripgrep calls `./…`. */
export function absoluteOf(target: Target, printed: string): string {
  return join(target.folder, printed);
}

/** A file as the model is told of it: from the working folder, if it lies there, and on one line. */
export function nameOf(path: string, cwd: string): string {
  const name = isInside(path, cwd) ? relative(cwd, path) : path;
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}

/** What follows from a search that did not end by itself; undefined if it did. */
export function badEnd(end: SearchEnd, tool: string, context: ToolContext): ToolResult | undefined {
  switch (end.kind) {
    case "done":
    case "stopped":
      return undefined;
    case "cancelled":
      return failure("Cancelled.", "cancelled");
    case "timeout":
      return failure(
        `Timed out after ${context.timeoutMs / 1000} s; search a smaller part, by path, glob or type.`,
        "timeout",
      );
    case "failed":
      return failure(`${tool} could not be run: ${end.why}.`);
    default:
      return end satisfies never;
  }
}

/** `1 file`, `2 files`. */
export function files(count: number): string {
  return `${count} ${count === 1 ? "file" : "files"}`;
}

/** Splits a text into pieces that each end with NUL; the last, open one is kept for the next text. */
export class NulSplitter {
  #rest = "";

  push(text: string): string[] {
    const parts = (this.#rest + text).split("\0");
    this.#rest = parts.pop() ?? "";
    return parts;
  }
}
