import { join } from "node:path";
import { checkedId } from "../session-id.ts";

/** Where the parts of one session lie. */
export interface SessionPaths {
  folder: string;
  /** The log: every line of every run. */
  events: string;
  /** What is known of the session beside its lines. */
  meta: string;
  /** Whole outputs of calls. */
  output: string;
  /** The logs of the sessions that this one is a fork of, as they were then. */
  ancestors: string;
}

/** The folder of all sessions, in the folder of linefeed's state. */
export function sessionsFolder(stateFolder: string): string {
  return join(stateFolder, "sessions");
}

/** Throws a TypeError for what is no id: nothing else may become part of a path. */
export function sessionPaths(sessions: string, id: string): SessionPaths {
  const folder = join(sessions, checkedId(id));
  return {
    folder,
    events: join(folder, "events.jsonl"),
    meta: join(folder, "meta.json"),
    output: join(folder, "output"),
    ancestors: join(folder, "ancestors"),
  };
}

/** The log of a session that this one is a fork of. Throws as {@link sessionPaths}. */
export function ancestorLog({ ancestors }: SessionPaths, id: string): string {
  return join(ancestors, `${checkedId(id)}.jsonl`);
}
