import { createRequire } from "node:module";
import { CallGuard } from "./call-guard.ts";
import { startChild, type Child } from "./child.ts";
import { findExecutable, isExecutable } from "./executable.ts";
import { markedEnvironment } from "./processes.ts";
import { headOf, systemMessage } from "./text.ts";
import type { ToolContext } from "./tool.ts";

/** How much of what ripgrep complains about is kept, in UTF-16 code units. */
const MESSAGE_UNITS = 2000;

export interface Search {
  /** Arguments of ours; whatever the model wrote stands behind `-e`, `--` or in `--option=…`. */
  args: readonly string[];
  /** The folder to work in: globs count from here. */
  cwd: string;
  /** The end of the call's time, by the clock's `active`. */
  deadline: number;
}

export type SearchEnd =
  /** `code` is 0 for matches, 1 for none, 2 for errors (matches are possible then too). */
  | { kind: "done"; code: number; messages: string }
  /** `take` had enough. */
  | { kind: "stopped" }
  | { kind: "timeout" }
  | { kind: "cancelled" }
  | { kind: "failed"; why: string };

/**
 * Runs ripgrep to its end and hands what it prints to `take`, until that returns false. Nothing is read while
 * `take` is at work. ripgrep is ended at the deadline and when the call is cancelled; it never rejects but
 * when `take` does.
 */
export async function runRipgrep(
  search: Search,
  context: ToolContext,
  take: (text: string) => Promise<boolean>,
): Promise<SearchEnd> {
  if (context.signal.aborted) return { kind: "cancelled" };
  let child: Child;
  try {
    child = await startChild({
      file: ripgrepPath(context.environment.PATH),
      // Never the user's own configuration: it could hold a program to run on each file.
      args: ["--no-config", ...search.args],
      cwd: search.cwd,
      env: markedEnvironment(context.environment, context.processMark, context.toolUseId),
    });
  } catch (error) {
    return { kind: "failed", why: systemMessage(error) };
  }
  const left = Math.max(0, search.deadline - context.clock.active());
  const guard = new CallGuard(child, "rg", left, context);
  let messages = "";
  let ended = false;
  try {
    for await (const { stream, text } of child.output()) {
      if (stream === "stderr") messages = headOf(messages + text, MESSAGE_UNITS);
      else if (!(await take(text)) && guard.endedBy === undefined) return { kind: "stopped" };
    }
    ended = true;
  } finally {
    await guard.close(ended);
  }
  if (guard.endedBy !== undefined) return { kind: guard.endedBy };
  const { code, signal } = await child.exited;
  return code === null
    ? { kind: "failed", why: `ripgrep was ended by ${signal}` }
    : { kind: "done", code, messages: messages.trim() };
}

let found: string | undefined;

/**
 * The program of the package, which brings one for each platform; where that was left out at the installation
 * (`--omit=optional`), the one on the path.
 *
 * @throws an error that says how to get one.
 */
function ripgrepPath(path = ""): string {
  found ??= packagedRipgrep() ?? findExecutable("rg", path);
  if (found !== undefined) return found;
  throw new Error(
    `ripgrep is missing: install linefeed with its optional packages (${platformPackage()}), or put rg on the PATH`,
  );
}

/** As the package itself finds it, but without loading it: it is a module that throws while it is loaded. */
function packagedRipgrep(): string | undefined {
  try {
    const own = createRequire(import.meta.url);
    const program = createRequire(own.resolve("@vscode/ripgrep")).resolve(`${platformPackage()}/bin/rg`);
    return isExecutable(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function platformPackage(): string {
  return `@vscode/ripgrep-${process.platform}-${process.arch}`;
}
