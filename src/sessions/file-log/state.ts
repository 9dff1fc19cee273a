import { lstatSync } from "node:fs";
import { noSession } from "../find.ts";
import { codeOf } from "../private-folder.ts";
import type { WriterPresence } from "../state.ts";
import { statusFrom, type SessionStatus } from "../status.ts";
import type { LogTail } from "../tail-fold.ts";
import { stillRuns } from "../writer-process.ts";
import { firstInit } from "./first-init.ts";
import { readLogTail } from "./log-tail.ts";
import { readMeta } from "./meta.ts";
import type { SessionPaths } from "./paths.ts";
import { presenceOf } from "./presence.ts";

/** What was found of a session's log: its end, or why it cannot be read. */
type Found = { tail: LogTail; fault: null } | { tail: null; fault: string };

/** Looks at one session; a damaged one is a status too. @throws as {@link EventLog.state}. */
export async function sessionStatus(
  paths: SessionPaths,
  id: string,
  signal: AbortSignal,
): Promise<SessionStatus> {
  signal.throwIfAborted();
  const folderMs = lstatSync(paths.folder, { throwIfNoEntry: false })?.mtimeMs;
  if (folderMs === undefined) throw noSession(id);
  const { found, presence } = await look(paths);
  signal.throwIfAborted();
  const meta = readMeta(paths);
  const pid = presence === "alive" && meta.writer && stillRuns(meta.writer) ? meta.writer.pid : null;
  return statusFrom(
    {
      ...meta,
      id,
      pid,
      log: paths.events,
      tail: found.tail,
      presence,
      writtenMs: found.tail?.writtenMs ?? folderMs,
      damage: (terminal) => found.fault ?? damageOf(paths, found.tail, terminal),
    },
    Date.now(),
  );
}

/** The log is read once more after its writer was found to be gone: it may have said its last word in between. */
async function look(paths: SessionPaths): Promise<{ found: Found; presence: WriterPresence }> {
  const found = await readEnd(paths);
  const presence = await presenceOf(paths);
  const isSettled = presence === "alive" || found.tail?.result;
  return { found: isSettled ? found : await readEnd(paths), presence };
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
