import { constants, createReadStream, fstatSync, openSync, statSync, type Stats } from "node:fs";
import type { Readable } from "node:stream";
import { AgentError } from "../protocol/errors.ts";

/** How long a pipe beside a given prompt has for its first byte, in ms. */
const FIRST_BYTE_MS = 500;
/** The most that is read from stdin, in bytes. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;

export type StdinRead = { kind: "read"; bytes: Buffer } | { kind: "silent" } | { kind: "terminal" };

/**
 * Reads stdin to its end. `patience` says what becomes of a pipe that stays silent: `brief` gives it 0.5 s
 * for a first byte (the caller has a prompt already), `endless` waits.
 * @throws AgentError `usage` if it is a folder or too long; the reason of `signal` when that aborts.
 */
export async function readStdin(patience: "brief" | "endless", signal: AbortSignal): Promise<StdinRead> {
  const stat = statStdin();
  const terminal = isTerminal(stat);
  if (terminal && patience === "brief") return { kind: "terminal" };
  const waits = stat.isFIFO() || stat.isSocket() || terminal;
  const stream = await openStdin(stat, terminal);
  const firstByteMs = waits && patience === "brief" ? FIRST_BYTE_MS : undefined;
  return collectStream(stream, firstByteMs, signal);
}

/** Everything that a pipe on stdin brings, as text. */
export async function readAllOfStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await streamStdin()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** Stdin as a stream, for whoever reads it piece by piece; it runs ahead of its reader by 64 KiB at most. */
export function streamStdin(): Promise<Readable> {
  const stat = statStdin();
  return openStdin(stat, isTerminal(stat));
}

/** @throws AgentError `usage` if it is a folder. */
export function statStdin(): Stats {
  const stat = fstatSync(0);
  if (stat.isDirectory())
    throw new AgentError("usage", "stdin is a folder; redirect a file or a pipe into it");
  return stat;
}

/** Whether stdin is a terminal: a character device, and not the one that is nothing. */
export function stdinIsTerminal(): boolean {
  return isTerminal(fstatSync(0));
}

function isTerminal(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev !== statSync("/dev/null").rdev;
}

/** A pipe is opened anew where the system can, so that no neighbour's end is made non-blocking. */
async function openStdin(stat: Stats, terminal: boolean): Promise<Readable> {
  if (stat.isFIFO()) {
    const { Socket } = await import("node:net");
    try {
      const fd = openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: true, writable: false });
    } catch {
      return process.stdin;
    }
  }
  return stat.isSocket() || terminal ? process.stdin : createReadStream("", { fd: 0, autoClose: false });
}

function collectStream(
  stream: Readable,
  firstByteMs: number | undefined,
  signal: AbortSignal,
): Promise<StdinRead> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let timer: NodeJS.Timeout | undefined;
    const settle = (action: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      stream.removeAllListeners("data");
      stream.on("error", () => undefined);
      stream.destroy();
      action();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (firstByteMs !== undefined)
      timer = setTimeout(() => settle(() => resolve({ kind: "silent" })), firstByteMs);
    stream.on("data", (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_STDIN_BYTES) settle(() => reject(tooLong()));
    });
    stream.on("end", () => settle(() => resolve({ kind: "read", bytes: Buffer.concat(chunks) })));
    stream.on("error", (error) =>
      settle(() => reject(new AgentError("io", `stdin cannot be read: ${error.message}`))),
    );
  });
}

function tooLong(): AgentError {
  return new AgentError(
    "usage",
    `stdin is longer than ${MAX_STDIN_BYTES / 1024 / 1024} MiB; give the agent a file to read instead`,
  );
}
