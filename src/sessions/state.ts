import type { ResultStatus } from "../protocol/words.ts";
import type { LogTail } from "./tail-fold.ts";

/** The states of a session, from its log and its lock; stored nowhere. docs/sessions.md has this table. */
export const SESSION_STATES = {
  running: {
    terminal: false,
    meaning: "A run is at work: it answers a prompt, or is just beginning or ending.",
  },
  waiting: {
    terminal: false,
    meaning: "A run lives and waits for a prompt, its own next one or one that is sent to it.",
  },
  done: { terminal: true, meaning: "The last run ended well (exit code 0)." },
  failed: { terminal: true, meaning: "The last run ended with an error; `error` says which." },
  cancelled: {
    terminal: true,
    meaning: "The last run was ended: by a signal, by `stop`, or because its reader went away.",
  },
  limit: { terminal: true, meaning: "The last run reached a limit: steps, time or tokens (exit code 3)." },
  crashed: {
    terminal: true,
    meaning: "The process of the last run is gone and has left no last word (exit code 5).",
  },
} as const satisfies Record<string, { terminal: boolean; meaning: string }>;

export type SessionState = keyof typeof SESSION_STATES;

/**
 * Whether a session has a writer. `unknown`: nobody here can tell, since it was last written on another machine, has only just begun, or the
 * system does not let us ask.
 */
export type WriterPresence = "alive" | "none" | "unknown";

/** A run that has begun takes up the prompt it was given sooner than this, in ms; later it waits for one. */
const BEGINNING_MS = 5000;

/** @param silentMs how long ago the last line was written. */
export function stateOf(tail: LogTail | null, writer: WriterPresence, silentMs: number): SessionState {
  if (tail?.result && writer !== "alive") return stateOfResult(tail.result);
  // What has no last word may be running still.
  if (writer !== "none") return isWaiting(tail, writer, silentMs) ? "waiting" : "running";
  return "crashed";
}

function isWaiting(tail: LogTail | null, writer: WriterPresence, silentMs: number): boolean {
  if (writer === "unknown") return false;
  return tail?.phase === "between_turns" || (tail?.phase === "begun" && silentMs > BEGINNING_MS);
}

function stateOfResult({
  status,
  error,
}: {
  status: ResultStatus;
  error: { code: string } | null;
}): SessionState {
  switch (status) {
    case "ok":
      return "done";
    case "cancelled":
      return "cancelled";
    case "limit":
      return "limit";
    default:
      // Later versions may have further words; none of them is `ok`.
      return error?.code === "lost_worker" ? "crashed" : "failed";
  }
}
