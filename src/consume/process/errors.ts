import { existsSync } from "node:fs";
import { AgentError, type ErrorCode } from "../../protocol/errors.ts";

/** How a process ended. One of the two is null. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * The process could not be started; the message says what to do. `code` is `config` for a program or folder that is not
 * there or not allowed, `usage` for options that no command line can hold, `io` (with `retryable: true`) when the system
 * has no room for another process.
 */
export class SpawnError extends AgentError {
  override readonly name = "SpawnError";
  /** The program. */
  readonly executable: string;
  /** The system's word for it, such as `ENOENT`; null where it has none. */
  readonly errno: string | null;

  constructor(executable: string, advice: SpawnAdvice, cause?: unknown) {
    const { code, text, retryable } = advice;
    super(code, `${executable} could not be started: ${text}`, { cause, retryable });
    this.executable = executable;
    this.errno = errnoOf(cause);
  }
}

interface SpawnAdvice {
  code: ErrorCode;
  /** What to do, for a person. */
  text: string;
  retryable?: boolean;
}

/** What the system's refusal to start a program means. */
export function spawnError(executable: string, cwd: string | undefined, cause: unknown): SpawnError {
  return new SpawnError(executable, adviceOn(cause, cwd), cause);
}

function adviceOn(cause: unknown, cwd: string | undefined): SpawnAdvice {
  const errno = errnoOf(cause);
  switch (errno) {
    case "ENOENT":
    case "ENOTDIR":
      if (cwd !== undefined && !existsSync(cwd))
        return { code: "config", text: `there is no folder ${cwd} to work in (\`cwd\`)` };
      return {
        code: "config",
        text: "there is no such program; install it, or say with `executable` where it is",
      };
    case "EACCES":
    case "EPERM":
      return {
        code: "config",
        text: `it may not be executed${cwd === undefined ? "" : `, or ${cwd} not be entered`}; look at its mode (chmod +x)`,
      };
    case "E2BIG":
      return {
        code: "usage",
        text: "the options are too long for a command line; put long texts into files (`--append-system-prompt-file` in `extraArgs`)",
      };
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return {
        code: "io",
        retryable: true,
        text: `the system has no room for another process now (${errno}); start fewer at once, or raise the limit (ulimit)`,
      };
    case "ERR_INVALID_ARG_VALUE":
    case "ERR_INVALID_ARG_TYPE":
      return { code: "usage", text: textOf(cause) };
    default:
      return { code: "io", text: textOf(cause) };
  }
}

export interface StreamEnd {
  exit: ProcessExit;
  stderr: string;
  lastSeq: number | null;
  /** What the stream held instead of events, or why the process was ended. */
  note: string | null;
  cause: unknown;
}

/**
 * The process ended without the last word of a run: it crashed, it was killed, or it is not linefeed. The code is
 * `lost_worker`; `cause` is the reason of an abort, if there was one.
 */
export class StreamEndedError extends AgentError {
  override readonly name = "StreamEndedError";
  /** Null if a signal ended the process. */
  readonly exitCode: number | null;
  /** The signal that ended the process; null if none did. */
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to stderr, at most 16 KiB. */
  readonly stderr: string;
  /** The `seq` of the last event; null if there was none. */
  readonly lastSeq: number | null;

  constructor({ exit, stderr, lastSeq, note, cause }: StreamEnd) {
    const how =
      exit.signal === null ? `exited with ${exit.code ?? "no code"}` : `was ended by ${exit.signal}`;
    const where = lastSeq === null ? "before its first event" : `after event ${lastSeq}`;
    const said = stderr.trim() === "" ? "" : `; on stderr: ${lastLine(stderr)}`;
    super(
      "lost_worker",
      `the process ${how} ${where}, without a result${note === null ? "" : `; ${note}`}${said}`,
      { cause },
    );
    this.exitCode = exit.code;
    this.signal = exit.signal;
    this.stderr = stderr;
    this.lastSeq = lastSeq;
  }
}

function lastLine(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return line.length > 300 ? `${line.slice(0, 300).toWellFormed()}…` : line;
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function errnoOf(thrown: unknown): string | null {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
}
