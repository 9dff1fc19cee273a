import { join } from "node:path";

/** A UUID, in the one spelling that names a folder. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

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

/** Whether a text is a session's id as we write it. Only such a text ever becomes part of a path. */
export function isSessionId(text: string): boolean {
  return ID.test(text);
}

/** The folder of all sessions, in the folder of linefeed's state. */
export function sessionsFolder(stateFolder: string): string {
  return join(stateFolder, "sessions");
}

/** Throws a TypeError for what is no id: nothing else may become part of a path. */
export function sessionPaths(sessions: string, id: string): SessionPaths {
  const folder = join(sessions, checked(id));
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
  return join(ancestors, `${checked(id)}.jsonl`);
}

function checked(id: string): string {
  if (!isSessionId(id)) throw new TypeError(`no session id: ${JSON.stringify(id)}`);
  return id;
}
