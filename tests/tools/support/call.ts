import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { bashTool } from "../../../src/tools/bash.ts";
import { systemClock } from "../../../src/tools/clock.ts";
import { toolEnvironment } from "../../../src/tools/environment.ts";
import { endProcesses, survivors } from "../../../src/tools/processes.ts";
import type { ToolContext, ToolOutput, ToolResult } from "../../../src/tools/tool.ts";

const folders: string[] = [];
const marks: string[] = [];

afterEach(async () => {
  for (const mark of marks.splice(0)) {
    const left = await endProcesses(mark);
    if (left.length > 0) throw new Error(`still running: ${JSON.stringify(left)}`);
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own (its real path), removed after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "linefeed-test-")));
  folders.push(folder);
  return folder;
}

/** The context of a call in a folder of its own; whatever it leaves running is ended after the test. */
export function callContext(more: Partial<ToolContext> = {}): ToolContext {
  const processMark = randomUUID();
  marks.push(processMark);
  const cwd = more.cwd ?? temporaryFolder();
  return {
    cwd,
    toolUseId: "call_1",
    signal: new AbortController().signal,
    clock: systemClock,
    timeoutMs: 60_000,
    outputDirectory: () => cwd,
    environment: toolEnvironment(process.env),
    processMark,
    seenFiles: new Map(),
    mayRead: () => true,
    ...more,
  };
}

export interface FinishedCall {
  pieces: ToolOutput[];
  stdout: string;
  stderr: string;
  result: ToolResult;
  /** `result.content`, which is text. */
  text: string;
}

/** Pulls a call to its end; `onPiece` may hold it up, as a slow reader does. */
export async function finish(
  running: AsyncGenerator<ToolOutput, ToolResult, undefined>,
  onPiece: (piece: ToolOutput) => Promise<void> | void = () => undefined,
): Promise<FinishedCall> {
  const pieces: ToolOutput[] = [];
  for (;;) {
    const next = await running.next();
    if (next.done) {
      const textOf = (stream: string) =>
        pieces
          .filter((piece) => piece.stream === stream)
          .map((piece) => piece.text)
          .join("");
      const text = typeof next.value.content === "string" ? next.value.content : "";
      return { pieces, stdout: textOf("stdout"), stderr: textOf("stderr"), result: next.value, text };
    }
    pieces.push(next.value);
    await onPiece(next.value);
  }
}

export function bash(
  command: string,
  more: Partial<ToolContext> & { timeout?: number } = {},
): Promise<FinishedCall> {
  const { timeout, ...context } = more;
  const input = timeout === undefined ? { command } : { command, timeout };
  return finish(bashTool.run(input, callContext(context)));
}

/** The living processes of a call's run, as command lines. */
export function livingCommands(context: ToolContext): string[] {
  return survivors(context.processMark).map(({ command }) => command);
}

/** Waits until something holds; fails after a time that is long even on a loaded machine. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = performance.now() + 20_000; !condition();) {
    if (performance.now() > end) throw new Error(`still not so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
