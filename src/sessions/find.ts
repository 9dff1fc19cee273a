import { AgentError } from "../protocol/errors.ts";
import type { WhichSession } from "./event-log.ts";
import { isSessionId } from "./session-id.ts";

/** As much of an id as has to be given at least. */
const LEAST = 4;
/** How many sessions an error names. */
const NAMED = 5;

/** What a session is found by. */
export interface Findable {
  id: string;
  name: string | null;
  /** The folder of its latest run. */
  cwd: string;
  /** Whether there is a log at all. */
  hasLog: boolean;
}

/** The id, where one is given: then nobody has to look for it. */
export function idGiven(which: WhichSession): string | undefined {
  const id = "reference" in which ? which.reference.trim().toLowerCase() : "";
  return isSessionId(id) ? id : undefined;
}

/**
 * Finds the session that is meant by anything but an id, as {@link EventLog.find} says.
 * @param all the one that was written to last in front.
 * @throws AgentError `usage` if there is none, or more than one.
 */
export async function findAmong(
  all: readonly Findable[],
  which: WhichSession,
  isAlive: (id: string) => Promise<boolean>,
): Promise<string> {
  if ("latestIn" in which) return latestIn(all, which.latestIn);
  const wanted = which.reference.trim();
  const named = idsNamed(all, wanted);
  // Only a clash of names is worth a look at who lives.
  if (named.length > 1) return (await firstAlive(named, isAlive)) ?? named[0] ?? "";
  return named[0] ?? byPiece(all, wanted.toLowerCase(), which.reference);
}

/** The session with a name that has a writer, the one written to last if there are several. */
export async function liveNamedAmong(
  all: readonly Findable[],
  name: string,
  isAlive: (id: string) => Promise<boolean>,
): Promise<string | undefined> {
  return firstAlive(idsNamed(all, name), isAlive);
}

export function noSession(id: string): AgentError {
  return new AgentError("usage", `there is no session ${id}`);
}

export function takenId(id: string): AgentError {
  return new AgentError(
    "usage",
    `there is a session ${id} already; carry it on with --resume ${id}, or choose another --session-id`,
  );
}

function idsNamed(all: readonly Findable[], name: string): string[] {
  return all.filter((one) => one.name === name).map(({ id }) => id);
}

async function firstAlive(
  ids: readonly string[],
  isAlive: (id: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const id of ids) if (await isAlive(id)) return id;
  return undefined;
}

function byPiece(all: readonly Findable[], piece: string, reference: string): string {
  const isPiece = piece.length >= LEAST && /^[0-9a-f-]+$/.test(piece);
  const ids = all.map(({ id }) => id).filter((id) => isPiece && (id.startsWith(piece) || id.endsWith(piece)));
  const [only] = ids;
  if (only === undefined) throw new AgentError("usage", noneMessage(reference));
  if (ids.length === 1) return only;
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  throw new AgentError(
    "usage",
    `"${reference}" may be ${ids.slice(0, NAMED).join(", ")}${more}; give more of the id`,
  );
}

function latestIn(all: readonly Findable[], folder: string): string {
  const latest = all.find(({ cwd, hasLog }) => hasLog && cwd === folder);
  if (latest) return latest.id;
  throw new AgentError(
    "usage",
    `no session has worked in ${folder} yet; give the id of another with --resume`,
  );
}

function noneMessage(reference: string): string {
  const shown = reference.length > 60 ? `${reference.slice(0, 60)}…` : reference;
  const cure = /\s/.test(reference.trim())
    ? "if that is the prompt: -c -p carries on the latest session of this folder with it"
    : `give its id, ${LEAST} or more characters of the id's beginning or end, or its name`;
  return `there is no session "${shown}"; ${cure}`;
}
