import { existsSync, realpathSync } from "node:fs";
import { AgentError } from "../../protocol/errors.ts";
import { stateDirectory } from "../../run/state-directory.ts";
import { findSession, latestSession } from "../../sessions/find.ts";
import { sessionPaths, sessionsFolder, type SessionPaths } from "../../sessions/paths.ts";

export interface NamedSession {
  id: string;
  paths: SessionPaths;
}

/** The folder of all sessions. @throws AgentError `config` where there is no place for one. */
export function allSessionsFolder(env: NodeJS.ProcessEnv): string {
  const state = stateDirectory(env);
  if (state !== undefined) return sessionsFolder(state);
  throw new AgentError(
    "config",
    "there is no place where sessions are kept; set HOME, XDG_STATE_HOME or LINEFEED_STATE_DIR",
  );
}

/**
 * The session that the words behind a command name, or the latest of this folder where there are none.
 * @throws AgentError `usage` if there is no such session.
 */
export function sessionOf(reference: string | undefined, env: NodeJS.ProcessEnv): NamedSession {
  const sessions = allSessionsFolder(env);
  if (reference !== undefined && reference.trim() === "") {
    throw new AgentError("usage", "the name of the session is empty; an unset variable?");
  }
  const id =
    reference === undefined
      ? latestSession(sessions, realpathSync(process.cwd()))
      : findSession(sessions, reference);
  const paths = sessionPaths(sessions, id);
  if (!existsSync(paths.events)) throw new AgentError("usage", `there is no session ${id}`);
  return { id, paths };
}
