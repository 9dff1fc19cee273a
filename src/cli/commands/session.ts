import { Option } from "commander";
import { AgentError } from "../../protocol/errors.ts";
import { visible } from "../../render/visible.ts";
import { workingFolder } from "../../run/folders.ts";
import { stateDirectory } from "../../run/state-directory.ts";
import { keptSessions } from "../../run/store.ts";
import type { EventLog } from "../../sessions/event-log.ts";
import { storeOf, type StoreFlags } from "../store.ts";
import { parseWord } from "../values.ts";

/** Which sessions a command is about, if not those of this machine. */
export function storeOption(): Option {
  return new Option("--store <url>", "sessions in this Redis: redis://host:6379/0 (LINEFEED_STORE)");
}

/** The sessions that are kept. @throws AgentError `usage` or `config` where there is no place for them. */
export async function sessionsOf(env: NodeJS.ProcessEnv, flags: StoreFlags): Promise<EventLog> {
  return keptSessions({ stateFolder: stateDirectory(env), store: await storeOf(flags, env) });
}

/**
 * The id of the session that the words behind a command name, or of the latest of this folder where there are none.
 * @throws AgentError `usage` if there is no such session.
 */
export async function sessionIdOf(log: EventLog, reference: string | undefined): Promise<string> {
  if (reference !== undefined && reference.trim() === "") {
    throw new AgentError("usage", "the name of the session is empty; an unset variable?");
  }
  return log.find(reference === undefined ? { latestIn: workingFolder() } : { reference });
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
