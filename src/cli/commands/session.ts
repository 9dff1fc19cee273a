import { existsSync, lstatSync } from "node:fs";
import { Option } from "commander";
import { AgentError } from "../../protocol/errors.ts";
import { visible } from "../../render/visible.ts";
import { workingFolder } from "../../run/folders.ts";
import { stateDirectory } from "../../run/state-directory.ts";
import { findSession, latestSession } from "../../sessions/find.ts";
import { sessionPaths, sessionsFolder, type SessionPaths } from "../../sessions/paths.ts";
import { parseWord } from "../values.ts";

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
  const session = locate(reference, env);
  if (!existsSync(session.paths.events)) throw noSession(session.id);
  return session;
}

/** The same of what is kept under a session's id, be it so damaged that it has no log. @throws as `sessionOf`. */
export function keptSessionOf(reference: string, env: NodeJS.ProcessEnv): NamedSession {
  const session = locate(reference, env);
  // A link that leads nowhere can be removed too.
  if (!lstatSync(session.paths.folder, { throwIfNoEntry: false })) throw noSession(session.id);
  return session;
}

function locate(reference: string | undefined, env: NodeJS.ProcessEnv): NamedSession {
  const sessions = allSessionsFolder(env);
  if (reference !== undefined && reference.trim() === "") {
    throw new AgentError("usage", "the name of the session is empty; an unset variable?");
  }
  const id =
    reference === undefined ? latestSession(sessions, workingFolder()) : findSession(sessions, reference);
  return { id, paths: sessionPaths(sessions, id) };
}

function noSession(id: string): AgentError {
  return new AgentError("usage", `there is no session ${id}`);
}

const LIST_FORMATS = ["text", "jsonl"] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

/** How a command says something of sessions. @param how each format does it, in that order. */
export function listFormatOption(how: string): Option {
  return new Option("--output-format <format>", `${LIST_FORMATS.join(" or ")}: ${how}`)
    .argParser(parseWord(LIST_FORMATS, { json: "jsonl" }))
    .default("text");
}

/** A session for a person, who may know it by its name: `019bc0fd-… (fix-tests)`. */
export function titleOf(id: string, name: string | null): string {
  return name === null ? id : `${id} (${visible(name)})`;
}
