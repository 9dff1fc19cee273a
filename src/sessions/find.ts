import { readdirSync, statSync } from "node:fs";
import { AgentError } from "../protocol/errors.ts";
import { readMeta, type Meta } from "./meta.ts";
import { isSessionId, sessionPaths } from "./paths.ts";

/** As much of an id as has to be given at least. */
const LEAST = 4;
/** How many sessions an error names. */
const NAMED = 5;

/** A session as it lies there, without a look into its lines. */
export interface FoundSession {
  id: string;
  meta: Meta;
  /** When a line was last written, in ms; of a session without a log, when something was last made in its folder. */
  writtenMs: number;
  /** Whether there is a log at all. */
  hasLog: boolean;
}

/** The sessions of a folder, the one that was written to last in front; damaged ones too. */
export function allSessions(sessions: string): FoundSession[] {
  return idsIn(sessions)
    .map((id) => {
      const paths = sessionPaths(sessions, id);
      const logMs = changedMs(paths.events);
      const writtenMs = logMs ?? changedMs(paths.folder) ?? 0;
      return { id, meta: readMeta(paths), writtenMs, hasLog: logMs !== undefined };
    })
    .toSorted((a, b) => b.writtenMs - a.writtenMs || (a.id < b.id ? 1 : -1));
}

function changedMs(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return undefined;
  }
}

/**
 * The session that a person means: by its id, its name (of several the one written to last), or a beginning or an end of
 * its id that no other has. @throws AgentError `usage` if there is none, or more than one.
 */
export function findSession(sessions: string, reference: string): string {
  const wanted = reference.trim();
  const asId = wanted.toLowerCase();
  if (isSessionId(asId)) return asId;
  const all = allSessions(sessions);
  const named = all.find(({ meta }) => meta.name === wanted);
  if (named) return named.id;
  const isPiece = asId.length >= LEAST && /^[0-9a-f-]+$/.test(asId);
  const ids = all.map(({ id }) => id).filter((id) => isPiece && (id.startsWith(asId) || id.endsWith(asId)));
  const [only] = ids;
  if (only === undefined) throw new AgentError("usage", noneMessage(reference));
  if (ids.length === 1) return only;
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  throw new AgentError(
    "usage",
    `"${reference}" may be ${ids.slice(0, NAMED).join(", ")}${more}; give more of the id`,
  );
}

/** The session of a folder that was written to last. @throws AgentError `usage` if there is none. */
export function latestSession(sessions: string, cwd: string): string {
  const latest = allSessions(sessions).find(({ meta, hasLog }) => hasLog && meta.cwd === cwd);
  if (latest) return latest.id;
  throw new AgentError("usage", `no session has worked in ${cwd} yet; give the id of another with --resume`);
}

function noneMessage(reference: string): string {
  const shown = reference.length > 60 ? `${reference.slice(0, 60)}…` : reference;
  const cure = /\s/.test(reference.trim())
    ? "if that is the prompt: -c -p carries on the latest session of this folder with it"
    : `give its id, ${LEAST} or more characters of the id's beginning or end, or its name`;
  return `there is no session "${shown}"; ${cure}`;
}

function idsIn(sessions: string): string[] {
  try {
    return readdirSync(sessions).filter(isSessionId);
  } catch {
    // No session was kept here yet.
    return [];
  }
}
