import { allSessions, type FoundSession } from "./find.ts";
import type { SessionState } from "./state.ts";
import { sessionStatus, type SessionStatus } from "./status.ts";

/** So many sessions are looked at at a time. */
const AT_A_TIME = 16;

export interface ListOptions {
  /** Only these states; undefined: all. */
  states?: readonly SessionState[] | undefined;
  /** Only the sessions whose latest run worked in this folder. */
  cwd?: string | undefined;
  /** So many at most. */
  limit?: number | undefined;
  signal: AbortSignal;
}

/** The sessions of a folder, the one that was written to last in front. @throws the reason of the signal. */
export async function listSessions(
  sessions: string,
  { states, cwd, limit = Infinity, signal }: ListOptions,
): Promise<SessionStatus[]> {
  const all = allSessions(sessions).filter(({ meta }) => cwd === undefined || meta.cwd === cwd);
  // Whether one counts is known only when it has been looked at.
  const looked = states ? all : all.slice(0, limit);
  const statuses = await statusesOf(sessions, looked, signal);
  return statuses.filter(({ state }) => !states || states.includes(state)).slice(0, limit);
}

async function statusesOf(
  sessions: string,
  found: readonly FoundSession[],
  signal: AbortSignal,
): Promise<SessionStatus[]> {
  const statuses: SessionStatus[] = [];
  const rest = found.entries();
  const work = async () => {
    for (const [index, { id }] of rest) {
      signal.throwIfAborted();
      statuses[index] = await sessionStatus(sessions, id, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return statuses;
}
