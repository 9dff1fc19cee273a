import { SessionBusyError } from "../busy.ts";
import { claimSession, NoSocketsError, type SessionClaim } from "./lock.ts";
import type { SessionPaths } from "./paths.ts";
import { presenceOf } from "./presence.ts";

/**
 * Where no sockets can be made, nobody can tell; `serve` says so. @throws SessionBusyError if the session has a writer, be it one that
 * nobody can ask yet.
 */
export async function claimIfPossible(paths: SessionPaths, id: string): Promise<SessionClaim | undefined> {
  if ((await presenceOf(paths)) === "alive") throw new SessionBusyError(id);
  try {
    return await claimSession(paths.folder, id);
  } catch (error) {
    if (error instanceof NoSocketsError) return undefined;
    throw error;
  }
}
