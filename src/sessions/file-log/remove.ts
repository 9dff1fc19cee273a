import { lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../../protocol/errors.ts";
import { SessionBusyError } from "../busy.ts";
import { claimSession, type SessionClaim } from "./lock.ts";
import { sessionPaths } from "./paths.ts";
import type { RemoveOptions } from "../event-log.ts";
import { isOfAnotherMachine } from "../machine.ts";
import { LOST_EXIT_CODE, type SessionStatus } from "../status.ts";
import { readMeta } from "./meta.ts";
import { sessionStatus } from "./state.ts";

/** What a session is called while it is being removed: no id, so nobody takes it for a session. */
const LEFTOVER = /^\.removed-[0-9a-f-]{36}-\d+$/;

/** Removes a session with its log and outputs. Links are removed and not followed. @throws as {@link EventLog.remove}. */
export async function removeSession(
  sessions: string,
  id: string,
  { force, signal }: RemoveOptions,
): Promise<SessionStatus> {
  const paths = sessionPaths(sessions, id);
  const status = await sessionStatus(paths, id, signal);
  const isElsewhere = isOfAnotherMachine(readMeta(paths));
  if (!status.terminal && !(isElsewhere && force)) throw stillThere(status, isElsewhere);
  const claim = await claimEnded(paths.folder, status, force);
  const leftover = join(sessions, `.removed-${id}-${process.pid}`);
  try {
    renameSync(paths.folder, leftover);
  } catch (error) {
    throw cannotRemove(paths.folder, error);
  } finally {
    claim?.release();
  }
  try {
    rmSync(leftover, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    throw cannotRemove(leftover, error);
  }
  return status;
}

/** Removes what a removal that was killed has left. Never throws: the next one tries again. */
export function sweepLeftovers(sessions: string): void {
  for (const name of namesIn(sessions).filter((one) => LEFTOVER.test(one))) {
    try {
      rmSync(join(sessions, name), { recursive: true, force: true });
    } catch {
      // Another removal may be at it.
    }
  }
}

/** Nobody can carry the session on any more. Undefined where there is nobody to keep out. */
async function claimEnded(
  folder: string,
  status: SessionStatus,
  force: boolean,
): Promise<SessionClaim | undefined> {
  // The sockets of what a link leads to are not this session's.
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  try {
    return await claimSession(folder, status.id);
  } catch (error) {
    if (error instanceof SessionBusyError) throw stillThere(status, false);
    // No socket can be made here, so there may be a writer that nobody can find.
    if (status.exit_code !== LOST_EXIT_CODE || force) return undefined;
    throw new AgentError(
      "invalid_request",
      `session ${status.id} has no last word, and without sockets nobody can tell if its run still lives; if you know that it does not, add --force`,
      { cause: error },
    );
  }
}

function stillThere({ id, host }: SessionStatus, isElsewhere: boolean): AgentError {
  return new AgentError(
    "invalid_request",
    isElsewhere
      ? `session ${id} was last written on ${host}, where it may be running still; if you know that it has ended, add --force`
      : `session ${id} is running; end it first with: linefeed stop ${id}`,
  );
}

function cannotRemove(path: string, error: unknown): AgentError {
  const message = error instanceof Error ? error.message : String(error);
  return new AgentError("io", `${path} cannot be removed: ${message}`, { cause: error });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
