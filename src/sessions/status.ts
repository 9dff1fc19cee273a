import type { Usage } from "../protocol/content.ts";
import type { ErrorInfo } from "../protocol/errors.ts";
import { exitCodeOf } from "../protocol/exit-codes.ts";
import { SESSION_STATES, stateOf, type SessionState, type WriterPresence } from "./state.ts";
import type { LogTail } from "./tail-fold.ts";

/** The longest text of a status, in UTF-16 code units. */
const TEXT_UNITS = 10_000;
/** What `attach` exits with where a writer has died without a last word. */
export const LOST_EXIT_CODE = exitCodeOf("error", { code: "lost_worker", retryable: false }, null);

/** What a list says of one session; the fields of `linefeed sessions --output-format jsonl`, where only more may come. */
export interface SessionStatus {
  id: string;
  name: string | null;
  state: SessionState;
  /** Whether the session has ended, until somebody carries it on. */
  terminal: boolean;
  /** That of the last run, as `attach` would exit with; null while one is under way. */
  exit_code: number | null;
  /** The answer of the last run; of one that is under way, or has died, what the model wrote last. */
  text: string | null;
  /** Whether only the first 10,000 characters of it are here. */
  text_truncated: boolean;
  /** Why the last run was not ok, if it has said so. */
  error: ErrorInfo | null;
  model: string | null;
  cwd: string | null;
  /** When the session began, and when its last line was written: ISO 8601, UTC. */
  created: string | null;
  updated: string;
  /** Of the whole session; null where the end of the log does not say. */
  turns: number | null;
  steps: number | null;
  /** Tokens of the last run, as far as it has come; null where the end of the log does not say. */
  usage: Usage | null;
  /** The writer; null if there is none, or its process is not known. */
  pid: number | null;
  /** The machine of the last run. */
  host: string | null;
  /** Where the log lies. */
  log: string;
  /** What is wrong with the session's files; null if nothing was seen. */
  damage: string | null;
}

/** What a store knows of one session; everything else follows from it. */
export interface SessionFindings extends Pick<
  SessionStatus,
  "id" | "name" | "created" | "pid" | "host" | "log"
> {
  /** Empty where it is not known. */
  model: string;
  cwd: string;
  /** The end of its log; null if that cannot be read. */
  tail: LogTail | null;
  presence: WriterPresence;
  /** When its last line was written, in ms since 1970. */
  writtenMs: number;
  /** What is wrong, given whether the session has ended; null if nothing was seen. */
  damage: (terminal: boolean) => string | null;
}

/** @param nowMs the time, in ms since 1970. */
export function statusFrom(found: SessionFindings, nowMs: number): SessionStatus {
  const { id, name, created, pid, host, log, tail, presence, writtenMs } = found;
  const state = stateOf(tail, presence, nowMs - writtenMs);
  const { terminal } = SESSION_STATES[state];
  const whole = tail?.text?.toWellFormed() ?? null;
  return {
    id,
    name,
    state,
    terminal,
    exit_code: terminal ? (tail?.result?.exit_code ?? LOST_EXIT_CODE) : null,
    text: whole?.slice(0, TEXT_UNITS).toWellFormed() ?? null,
    text_truncated: whole !== null && whole.length > TEXT_UNITS,
    error: terminal ? (tail?.result?.error ?? null) : null,
    model: found.model === "" ? null : found.model,
    cwd: found.cwd === "" ? null : found.cwd,
    created,
    updated: new Date(writtenMs).toISOString(),
    turns: tail?.turns ?? null,
    steps: tail?.steps ?? null,
    usage: tail?.usage ?? null,
    pid,
    host,
    log,
    damage: found.damage(terminal),
  };
}
