import { lstatSync, readdirSync, statSync } from "node:fs";
import type { Findable } from "../find.ts";
import { isSessionId } from "../session-id.ts";
import { readMeta } from "./meta.ts";
import { sessionPaths } from "./paths.ts";

/** A session as it lies there, without a look into its lines. */
export interface StoredSession extends Findable {
  /** When a line was last written, in ms; of a session without a log, when something was last made in its folder. */
  writtenMs: number;
}

/** The sessions of a folder, the one that was written to last in front; damaged ones too. */
export function storedSessions(sessions: string): StoredSession[] {
  return storedIds(sessions)
    .map((id) => {
      const paths = sessionPaths(sessions, id);
      const logMs = changedMs(paths.events);
      const { name, cwd } = readMeta(paths);
      const writtenMs = logMs ?? changedMs(paths.folder) ?? 0;
      return { id, name, cwd, writtenMs, hasLog: logMs !== undefined };
    })
    .toSorted((a, b) => b.writtenMs - a.writtenMs || (a.id < b.id ? 1 : -1));
}

/** In no order. */
export function storedIds(sessions: string): string[] {
  try {
    return readdirSync(sessions).filter(isSessionId);
  } catch {
    // No session was kept here yet.
    return [];
  }
}

/** Whether something lies under a session's id, be it a link that leads nowhere. */
export function isStored(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
}

function changedMs(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return undefined;
  }
}
