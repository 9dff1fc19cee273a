import { Command } from "commander";
import type { Cancellation } from "../../run/cancellation.ts";
import type { RunEnd } from "../../run/run.ts";
import { COMMAND_SUMMARIES, type CommandName } from "../command-names.ts";

/** What a command acts on beside its words and flags. */
export interface CommandHost {
  env: NodeJS.ProcessEnv;
  cancellation: Cancellation;
  /** Does a run with this command line instead. */
  run: (argv: readonly string[]) => Promise<RunEnd | undefined>;
}

/** A command of linefeed: its names, flags and help, and what it does. */
export interface CommandAction {
  /** Made anew for each command line, since commander keeps what it has read. */
  command(): Command;
  /** @throws AgentError for what keeps it from being done. */
  run(command: Command, host: CommandHost): Promise<RunEnd | undefined>;
}

/** The part that all commands have in common. */
export function newCommand(name: CommandName, words: string): Command {
  return new Command(`linefeed ${name}`)
    .description(sentence(COMMAND_SUMMARIES[name]))
    .usage(`${words}[options]`)
    .allowExcessArguments(true)
    .showSuggestionAfterError(true)
    .helpOption("-h, --help", "print this help");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Loads what a command does; none of it is loaded for a run. */
export async function loadCommand(name: CommandName): Promise<CommandAction> {
  switch (name) {
    case "attach":
      return (await import("./attach.ts")).attach;
    case "send":
      return (await import("./send.ts")).send;
    case "sessions":
      return (await import("./sessions.ts")).sessions;
    case "stop":
      return (await import("./stop.ts")).stop;
    case "rm":
      return (await import("./rm.ts")).rm;
    case "view":
      return (await import("./view.ts")).view;
    case "check":
      return (await import("./check.ts")).check;
    case "schema":
      return (await import("./schema.ts")).schema;
    default:
      return name satisfies never;
  }
}
