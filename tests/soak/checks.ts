// What must be true of a run of the soak, whatever happened in it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { StreamCheck } from "../../src/consume/stream-check.ts";
import type { EventOf } from "../../src/protocol/event.ts";
import { commandOf } from "../../src/tools/process-table.ts";
import { parseLines } from "../support/lint.ts";
import type { Plan } from "./plan.ts";

/** What a run left behind. */
export interface Trace {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
  /** Whether the pipe was closed before the end of the output. */
  readerLeft: boolean;
  /** Whether it had to be killed, because it did not end. */
  hung: boolean;
  /** Processes that it started and that live on. */
  survivors: number[];
  /** The run's own temporary folder, and that of its state. */
  temporary: string;
  state: string;
}

/** How a run ended, in a word, and what was wrong with it: nothing, if it kept every promise. */
export interface Verdict {
  end: string;
  faults: string[];
}

export function judge(plan: Plan, trace: Trace): Verdict {
  if (trace.hung) return { end: "hung", faults: ["it did not end"] };
  const log = readLog(trace.state);
  if (trace.stdout.length === 0 && log === undefined && trace.signal !== null)
    return { end: "never began", faults: diedBeforeItBegan(plan) ? [] : ["it ended without a word"] };
  const told = trace.readerLeft ? log : trace.stdout;
  const result = told && lastWord(told);
  const end = result ? (result.error?.code ?? "ok") : "unknown";
  return { end, faults: faultsOfRun(plan, trace, log, result) };
}

function faultsOfRun(
  plan: Plan,
  trace: Trace,
  log: Buffer | undefined,
  result: EventOf<"result"> | undefined,
): string[] {
  const keeps = !plan.args.includes("--no-session-persistence");
  const told = trace.readerLeft ? log : trace.stdout;
  return [
    ...(trace.readerLeft ? [] : streamFaults("stdout", trace.stdout)),
    ...(log ? streamFaults("log", log) : []),
    ...(keeps && !log ? ["there is no log"] : []),
    ...(log ? logFaults(trace, log) : []),
    ...(result ? codeFaults(trace, result) : told ? ["there is no result"] : []),
    ...survivorFaults(trace, result),
    ...readdirSync(trace.temporary).map((name) => `the temporary file ${name} is left`),
  ];
}

/** A signal may come before there is anybody to handle it. */
function diedBeforeItBegan({ signals }: Plan): boolean {
  return signals.some(({ afterMs }) => afterMs < 1000);
}

function readLog(state: string): Buffer | undefined {
  const sessions = join(state, "linefeed", "sessions");
  const [id] = existsSync(sessions) ? readdirSync(sessions) : [];
  const path = id === undefined ? undefined : join(sessions, id, "events.jsonl");
  return path !== undefined && existsSync(path) ? readFileSync(path) : undefined;
}

function streamFaults(name: string, bytes: Buffer): string[] {
  const check = new StreamCheck();
  return [...check.push(bytes), ...check.end()].map(({ line, message }) => `${name}:${line}: ${message}`);
}

/** stdout is never ahead of the log, and whole if somebody has read it. */
function logFaults({ stdout, readerLeft }: Trace, log: Buffer): string[] {
  if (!log.subarray(0, stdout.length).equals(stdout)) return ["stdout and log differ"];
  return readerLeft || log.length === stdout.length ? [] : ["the log has more than stdout"];
}

function lastWord(bytes: Buffer): EventOf<"result"> | undefined {
  const last = parseLines(bytes).at(-1);
  return last?.type === "result" ? last : undefined;
}

function codeFaults({ code, signal, stderr, readerLeft }: Trace, result: EventOf<"result">): string[] {
  const shell = signal === null ? code : 128 + constants.signals[signal];
  const faults: string[] = [];
  // Whoever left before the last word may also have left after it was kept.
  const missed = readerLeft && result.exit_code === 0 && shell === 141;
  if (shell !== result.exit_code && !missed)
    faults.push(`exit code ${shell}, result says ${result.exit_code}`);
  if (result.status === "ok" && stderr !== "" && !missed)
    faults.push(`stderr of a good run: ${stderr.slice(0, 200)}`);
  if (stderr.length > 10_000) faults.push(`${stderr.length} characters on stderr`);
  if (/\n\s+at .*:\d+:\d+/.test(stderr)) faults.push(`a stack trace: ${stderr.slice(0, 500)}`);
  return faults;
}

function survivorFaults({ survivors }: Trace, result: EventOf<"result"> | undefined): string[] {
  const named = result?.children_left.map(({ pid }) => pid) ?? [];
  return survivors
    .filter((pid) => !named.includes(pid))
    .map((pid) => `process ${pid} is left and not named: ${commandOf(pid)}`);
}
