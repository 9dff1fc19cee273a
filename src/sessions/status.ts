import { lstatSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Usage } from "../protocol/content.ts";
import type { ErrorInfo } from "../protocol/errors.ts";
import { exitCodeOf } from "../protocol/exit-codes.ts";
import { firstInit } from "./file-log/first-init.ts";
import { isAlive } from "./lock.ts";
import { readLogTail, type LogTail } from "./log-tail.ts";
import { isOfAnotherHost, readMeta, type Meta } from "./meta.ts";
import { sessionPaths, type SessionPaths } from "./paths.ts";
import { codeOf } from "./private-folder.ts";
import { SESSION_STATES, stateOf, type SessionState, type Writer } from "./state.ts";
import { stillRuns } from "./writer-process.ts";

/** A new session has no writer that can be found until it has loaded what that takes; it is looked for once more, in ms. */
const SECOND_LOOK_MS = 400;
/** A log that was written to in this time may be such a session's, in ms. */
const NEW_MS = 5000;
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
  /** The path of the log. */
  log: string;
  /** What is wrong with the session's files; null if nothing was seen. */
  damage: string | null;
}

/** What was found of a session's log: its end, or why it cannot be read. */
type Found = { tail: LogTail; fault: null } | { tail: null; fault: string };

/** Looks at one session; a damaged one is a status too. @throws the reason of the signal; TypeError for what is no id. */
export async function sessionStatus(
  sessions: string,
  id: string,
  signal: AbortSignal,
): Promise<SessionStatus> {
  const paths = sessionPaths(sessions, id);
  const meta = readMeta(paths);
  const { found, writer } = await look(paths, meta, signal);
  const { tail } = found;
  const writtenMs = tail?.writtenMs ?? folderTime(paths.folder);
  const state = stateOf(tail, writer, Date.now() - writtenMs);
  const { terminal } = SESSION_STATES[state];
  const whole = tail?.text?.toWellFormed() ?? null;
  return {
    id,
    name: meta.name,
    state,
    terminal,
    exit_code: terminal ? (tail?.result?.exit_code ?? LOST_EXIT_CODE) : null,
    text: whole?.slice(0, TEXT_UNITS).toWellFormed() ?? null,
    text_truncated: whole !== null && whole.length > TEXT_UNITS,
    error: terminal ? (tail?.result?.error ?? null) : null,
    model: meta.model === "" ? null : meta.model,
    cwd: meta.cwd === "" ? null : meta.cwd,
    created: meta.created,
    updated: new Date(writtenMs).toISOString(),
    turns: tail?.turns ?? null,
    steps: tail?.steps ?? null,
    usage: tail?.usage ?? null,
    pid: writer === "alive" && meta.writer && stillRuns(meta.writer) ? meta.writer.pid : null,
    host: meta.host,
    log: paths.events,
    damage: found.fault ?? damageOf(paths, found.tail, terminal),
  };
}

/**
 * The log is read once more after its writer was found to be gone: it may have said its last word in between. One that was
 * only just written to gets a little time to be found.
 */
async function look(
  paths: SessionPaths,
  meta: Meta,
  signal: AbortSignal,
): Promise<{ found: Found; writer: Writer }> {
  const found = await readEnd(paths);
  if (isOfAnotherHost(meta)) return { found, writer: "elsewhere" };
  if (await hasWriter(paths)) return { found, writer: "alive" };
  if (found.tail?.result) return { found, writer: "none" };
  if (found.tail && Date.now() - found.tail.writtenMs < NEW_MS) {
    await delay(SECOND_LOOK_MS, undefined, { signal });
    if (await hasWriter(paths)) return { found: await readEnd(paths), writer: "alive" };
  }
  signal.throwIfAborted();
  return { found: await readEnd(paths), writer: "none" };
}

async function hasWriter({ folder }: SessionPaths): Promise<boolean> {
  try {
    return await isAlive(folder);
  } catch (error) {
    // No folder, or one that may not be entered: then nobody of us writes there. Else (no descriptors left) nobody can
    // tell, and what may be running counts as that.
    return !["ENOENT", "ENOTDIR", "EACCES"].includes(codeOf(error));
  }
}

async function readEnd({ events }: SessionPaths): Promise<Found> {
  try {
    return { tail: await readLogTail(events), fault: null };
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const code = codeOf(error);
    return { tail: null, fault: code === "ENOENT" ? "it has no log" : `its log cannot be read (${code})` };
  }
}

function damageOf({ events }: SessionPaths, tail: LogTail, terminal: boolean): string | null {
  // A writer that has only just begun has written nothing yet.
  if (tail.size === 0) return terminal ? "its log is empty" : null;
  if (!firstInit(events)) return "its first line is no init";
  return tail.damage;
}

function folderTime(folder: string): number {
  try {
    return lstatSync(folder).mtimeMs;
  } catch {
    // It was removed under our eyes.
    return Date.now();
  }
}
