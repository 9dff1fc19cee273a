import { AgentError } from "../../protocol/errors.ts";
import type { ListOptions } from "../event-log.ts";
import type { SessionStatus } from "../status.ts";
import { sessionPaths } from "./paths.ts";
import { sessionStatus } from "./state.ts";
import { storedSessions, type StoredSession } from "./stored.ts";

/** So many sessions are looked at at a time. */
const AT_A_TIME = 16;

/** The sessions of a folder. @throws as {@link EventLog.list}. */
export async function listSessions(sessions: string, options: ListOptions): Promise<SessionStatus[]> {
  const { states, cwd, writtenBefore = Infinity, limit = Infinity, signal } = options;
  const all = storedSessions(sessions).filter(
    (one) => (cwd === undefined || one.cwd === cwd) && one.writtenMs < writtenBefore,
  );
  // Whether one counts is known only when it has been looked at.
  const looked = states ? all : all.slice(0, limit);
  const statuses = await statusesOf(sessions, looked, signal);
  return statuses.filter(({ state }) => !states || states.includes(state)).slice(0, limit);
}

async function statusesOf(
  sessions: string,
  stored: readonly StoredSession[],
  signal: AbortSignal,
): Promise<SessionStatus[]> {
  const statuses: (SessionStatus | undefined)[] = [];
  const rest = stored.entries();
  const work = async () => {
    for (const [index, { id }] of rest) statuses[index] = await statusUnlessRemoved(sessions, id, signal);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  signal.throwIfAborted();
  return statuses.filter((status) => status !== undefined);
}

/** Undefined for one that was removed under our eyes. */
async function statusUnlessRemoved(
  sessions: string,
  id: string,
  signal: AbortSignal,
): Promise<SessionStatus | undefined> {
  try {
    return await sessionStatus(sessionPaths(sessions, id), id, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentError && error.code === "usage") return undefined;
    throw error;
  }
}
