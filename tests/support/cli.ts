import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import type { EventOf, LinefeedEvent } from "../../src/protocol/event.ts";
import type { EventType } from "../../src/protocol/events.ts";
import type { Script } from "../../src/model/scripted/script.ts";
import { parseLines } from "./lint.ts";

/** The built command. */
export const CLI = resolve("dist/bin/linefeed.js");

export interface CliOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** What is written to stdin, which is then closed; undefined: /dev/null. */
  stdin?: string | Buffer | undefined;
  /** Called once the process runs: to send signals, read slowly, close pipes. */
  during?: (child: ChildProcess) => void;
}

export interface CliRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
  events: LinefeedEvent[];
}

/** Where the sessions of tests are kept that do not care; nothing is written into anybody's home. */
const STATE_DIRECTORY = mkdtempSync(join(tmpdir(), "linefeed-test-state-"));
afterAll(() => rmSync(STATE_DIRECTORY, { recursive: true, force: true, maxRetries: 5 }));

/** An environment without keys, proxies and colours of whoever runs the tests. */
export function cleanEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, LANG: "C.UTF-8", LINEFEED_STATE_DIR: STATE_DIRECTORY, ...more };
}

/** Runs the built command to its end and gives back everything that it left behind. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  return new Promise((resolveRun, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: options.cwd,
      env: cleanEnv(options.env),
      stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(options.stdin);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const bytes = Buffer.concat(stdout);
      const isLines = bytes.length > 0 && bytes.toString("utf8", 0, 2) === `{"`;
      resolveRun({
        code,
        signal,
        stdout: bytes,
        stderr: Buffer.concat(stderr).toString("utf8"),
        events: isLines ? parseLines(bytes) : [],
      });
    });
    options.during?.(child);
  });
}

/** Runs a shell command line in which `$LINEFEED` is the built command. */
export function runShell(command: string, options: CliOptions = {}): Promise<CliRun> {
  return new Promise((resolveRun, reject) => {
    const child = spawn("bash", ["-c", command], {
      cwd: options.cwd,
      env: cleanEnv({ LINEFEED: `${process.execPath} ${CLI}`, ...options.env }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (code, signal) =>
      resolveRun({
        code,
        signal,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString("utf8"),
        events: [],
      }),
    );
    options.during?.(child);
  });
}

/** A folder that is removed when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "linefeed-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Writes a script for the fake provider; returns its path. */
export function scriptFile(script: Script | Script["answers"]): string {
  const path = join(temporaryFolder(), "script.json");
  writeFileSync(path, JSON.stringify(Array.isArray(script) ? { answers: script } : script));
  return path;
}

export function ofType<T extends EventType>(events: readonly LinefeedEvent[], type: T): EventOf<T>[] {
  return events.filter(
    (event): event is Extract<LinefeedEvent, { type: T }> & EventOf<T> => event.type === type,
  );
}

/** The last word of a run. */
export function resultOf(run: CliRun): EventOf<"result"> {
  const [result] = ofType(run.events, "result");
  if (!result) throw new Error(`no result in: ${run.stdout.toString("utf8")} ${run.stderr}`);
  return result;
}

/** The deltas of a step and block, joined. */
export function joined(
  events: readonly LinefeedEvent[],
  type: "text_delta" | "thinking_delta",
  step?: number,
): string {
  return ofType(events, type)
    .filter((event) => step === undefined || event.step === step)
    .map((event) => event.text)
    .join("");
}
