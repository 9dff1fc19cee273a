import { wordDistance } from "../run/word-distance.ts";

/** The commands of linefeed, each with what it does; a prompt of one word that looks like one is taken for a slip. */
export const COMMAND_SUMMARIES = {
  attach: "follow a run: its lines from the start, and on to its end",
  sessions: "list sessions, and how they are doing",
  send: "give a session another prompt",
  stop: "end a run, in order or by force",
  rm: "remove sessions that have ended",
  view: "show a stream of events to a person, or convert it",
  check: "check a stream against the schemas and the order of events",
  schema: "print a JSON Schema",
} as const satisfies Record<string, string>;
export type CommandName = keyof typeof COMMAND_SUMMARIES;
export const COMMANDS = Object.keys(COMMAND_SUMMARIES).filter(isCommand);

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMAND_SUMMARIES, word);
}

/** The command that a bare word is, or is close to; undefined if it is neither. */
export function nearCommand(word: string): CommandName | undefined {
  if (!/^[a-z][a-z-]*$/i.test(word)) return undefined;
  const lower = word.toLowerCase();
  return COMMANDS.find((command) => wordDistance(lower, command) <= (command.length > 4 ? 2 : 1));
}
