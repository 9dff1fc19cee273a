import type { ErrorCode } from "./errors.ts";
import type { ResultStatus, SignalName } from "./words.ts";

/** One row of the exit code table; docs/exit-codes.md is made from it. */
export interface ExitCodeRow {
  status: ResultStatus;
  exitCode: number;
  /** The value of `error.code`; null where `error` is null. */
  errors: readonly ErrorCode[] | "any other" | "any with retryable: true" | null;
  meaning: string;
}

export const EXIT_CODES = [
  { status: "ok", exitCode: 0, errors: null, meaning: "The answer is complete." },
  { status: "error", exitCode: 1, errors: "any other", meaning: "It failed; trying again will not help." },
  {
    status: "error",
    exitCode: 2,
    errors: ["usage", "config"],
    meaning: "The command line or the configuration is wrong; no model was called.",
  },
  {
    status: "limit",
    exitCode: 3,
    errors: ["max_steps", "max_budget", "timeout", "max_tokens"],
    meaning: "A limit ended the run; a final answer that was cut is no success.",
  },
  {
    status: "error",
    exitCode: 4,
    errors: ["denied"],
    meaning: "A tool call was denied and --fail-on-denied is set.",
  },
  {
    status: "error",
    exitCode: 5,
    errors: ["lost_worker"],
    meaning: "The writer of the session died without a last word (the result is synthetic).",
  },
  {
    status: "error",
    exitCode: 75,
    errors: "any with retryable: true",
    meaning: "It failed after linefeed's own retries; the same command may succeed later.",
  },
  { status: "cancelled", exitCode: 129, errors: ["cancelled"], meaning: "SIGHUP." },
  { status: "cancelled", exitCode: 130, errors: ["cancelled"], meaning: "SIGINT (Ctrl-C)." },
  {
    status: "cancelled",
    exitCode: 141,
    errors: ["reader_closed"],
    meaning: "Whoever read stdout has gone; the agent was stopped.",
  },
  { status: "cancelled", exitCode: 143, errors: ["cancelled"], meaning: "SIGTERM." },
] as const satisfies readonly ExitCodeRow[];

const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const satisfies Record<
  SignalName,
  number
>;

/** The exit code that belongs to an outcome, by the table above. */
export function exitCodeOf(
  status: ResultStatus,
  error: { code: ErrorCode; retryable: boolean } | null,
  signal: SignalName | null,
): number {
  switch (status) {
    case "ok":
      return 0;
    case "limit":
      return 3;
    case "cancelled":
      if (error?.code === "reader_closed") return 141;
      return SIGNAL_EXIT_CODES[signal ?? "SIGTERM"];
    case "error":
      if (error?.code === "usage" || error?.code === "config") return 2;
      if (error?.code === "denied") return 4;
      if (error?.code === "lost_worker") return 5;
      return error?.retryable ? 75 : 1;
    default:
      return status satisfies never;
  }
}

/** The status that an error gives to a step, a turn or a run. */
export function statusOf(code: ErrorCode): Exclude<ResultStatus, "ok"> {
  switch (code) {
    case "cancelled":
    case "reader_closed":
      return "cancelled";
    case "max_steps":
    case "max_budget":
    case "timeout":
    case "max_tokens":
      return "limit";
    default:
      return "error";
  }
}
