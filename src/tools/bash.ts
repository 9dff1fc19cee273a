import * as z from "zod";
import { CallGuard } from "./call-guard.ts";
import { startChild, type Child } from "./child.ts";
import { findExecutable } from "./executable.ts";
import { OutputCollector, type CollectedOutput } from "./output.ts";
import { markedEnvironment } from "./processes.ts";
import { stdoutFirst } from "./stdout-first.ts";
import { errorCode, summaryLine, systemMessage } from "./text.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

const MAX_TIMEOUT_MS = 3_600_000;

const input = z.strictObject({
  command: z.string().min(1).describe("The command, given to `bash -c`."),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe("The time in milliseconds after which the command is ended, if the default does not fit."),
  description: z.string().optional().describe("What the command does, in a few words."),
});
type BashInput = z.infer<typeof input>;

export const bashTool: Tool<BashInput> = {
  name: "Bash",
  description: [
    "Runs a shell command in the working folder and returns what it printed (stdout and stderr together) and its exit code.",
    "Every call is a new shell: `cd` and variables do not last. There is no terminal and stdin is empty, so a command that",
    "asks something fails: pass flags such as `--yes` or `-m`. Long output is shortened to its head and tail; the result",
    "then names the file that holds the whole. The call ends with the shell; a process left in the background",
    "must send its output to a file, and is ended with the run.",
  ].join(" "),
  input,
  readOnly: false,
  summary: ({ command }) => summaryLine(command),
  access: async ({ command }) => ({ kind: "execute", command }),
  run: runBash,
};

async function* runBash(
  { command, timeout }: BashInput,
  context: ToolContext,
): ReturnType<typeof bashTool.run> {
  if (context.signal.aborted) return failure("cancelled", "Not run: the call was cancelled.");
  let child: Child;
  try {
    child = await startShell(command, context);
  } catch (error) {
    return failure("error", startFailure(error, context.cwd));
  }
  const timeoutMs = timeout ?? context.timeoutMs;
  const guard = new CallGuard(child, command, timeoutMs, context);
  const collector = new OutputCollector({
    directory: () => context.outputDirectory(),
    toolUseId: context.toolUseId,
  });
  let finished = false;
  try {
    const output = context.stdoutFirst ? stdoutFirst(child.output()) : child.output();
    for await (const piece of output) {
      const live = collector.add(piece);
      if (live) yield live;
    }
    finished = true;
  } finally {
    await guard.close(finished);
    if (!finished) collector.finish();
  }
  return result(child, guard, collector.finish(), timeoutMs);
}

function startShell(command: string, context: ToolContext): Promise<Child> {
  return startChild({
    file: findShell(context.environment.PATH),
    // The dashes: a command may itself begin with one.
    args: ["-c", "--", command],
    cwd: context.cwd,
    env: markedEnvironment(context.environment, context.processMark, context.toolUseId),
  });
}

function findShell(path = ""): string {
  return findExecutable("bash", path, ["/bin", "/usr/bin"]) ?? "/bin/sh";
}

function startFailure(error: unknown, cwd: string): string {
  switch (errorCode(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return `The command could not be started: the working folder ${cwd} or the shell is gone.`;
    case "E2BIG":
      return "The command is too long for the system; nothing was run. Write it into a file, then run that.";
    case "ERR_INVALID_ARG_VALUE":
      return "The command holds a NUL character; nothing was run.";
    default:
      return `The command could not be started: ${systemMessage(error)}`;
  }
}

function failure(status: ToolResult["status"], content: string): ToolResult {
  return { status, content, exitCode: null, truncated: false, outputFile: null };
}

function result(child: Child, guard: CallGuard, output: CollectedOutput, timeoutMs: number): ToolResult {
  const { status, note } = outcome(child, guard, timeoutMs);
  const notes = [note, ...guard.notes()];
  if (child.heldOpen && guard.endedBy === undefined) {
    notes.push("[A process that it left running still held its output, which is no longer read.]");
  }
  return {
    status,
    content: withNotes(
      output.text,
      notes.filter((line) => line !== ""),
    ),
    exitCode: child.exit?.code ?? null,
    truncated: output.truncated,
    outputFile: output.outputFile,
  };
}

function outcome(
  child: Child,
  guard: CallGuard,
  timeoutMs: number,
): { status: ToolResult["status"]; note: string } {
  const { exit } = child;
  if (guard.endedBy === "timeout") {
    return {
      status: "timeout",
      note: `Timed out after ${timeoutMs / 1000} s; the command and what it had started were ended.`,
    };
  }
  if (guard.endedBy === "cancelled") {
    return { status: "cancelled", note: "Cancelled; the command and what it had started were ended." };
  }
  if (exit?.code === 0) return { status: "ok", note: "" };
  return { status: "error", note: exit?.signal ? `Killed by ${exit.signal}` : `Exit code ${exit?.code}` };
}

/** Never blank: some providers refuse a text without a visible character. */
function withNotes(text: string, notes: readonly string[]): string {
  if (text.trim() === "")
    return [text === "" ? "(no output)" : "(no output but white space)", ...notes].join("\n");
  if (notes.length === 0) return text;
  return `${text}${text.endsWith("\n") ? "" : "\n"}${notes.join("\n")}`;
}
