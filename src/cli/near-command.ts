import { wordDistance } from "../run/word-distance.ts";

/** The commands of linefeed; a prompt of one word that looks like one is taken for a slip. */
export const COMMANDS = ["attach", "sessions", "send", "stop", "rm", "view", "check", "schema"] as const;
export type CommandName = (typeof COMMANDS)[number];

/** The command that a bare word is, or is close to; undefined if it is neither. */
export function nearCommand(word: string): CommandName | undefined {
  if (!/^[a-z][a-z-]*$/i.test(word)) return undefined;
  const lower = word.toLowerCase();
  return COMMANDS.find((command) => wordDistance(lower, command) <= (command.length > 4 ? 2 : 1));
}
