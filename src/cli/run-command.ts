import { Command, Option } from "commander";
import { VERSION } from "../run/version.ts";
import { COMMAND_SUMMARIES } from "./command-names.ts";
import { parseWith } from "./parse.ts";
import type { ReadRun } from "./read-run.ts";
import { RUN_OPTIONS, type RunOption } from "./run-options.ts";

/** The command line of a run for commander: it writes the help, and says what is wrong with a command line. */
export function runCommand(): Command {
  const command = new Command("linefeed")
    .description("A headless coding agent that prints every event as one JSON line.")
    .usage("[-p] [prompt] [options]\n       linefeed <command> [options]")
    .argument("[prompt...]", "what to do; also from stdin, or both; - waits for stdin")
    .allowExcessArguments(true)
    .showSuggestionAfterError(true)
    .version(VERSION, "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", EXAMPLES);
  for (const option of RUN_OPTIONS) command.addOption(commanderOption(option));
  return command;
}

/** Has commander read a command line. Undefined after `--help`. @throws AgentError `usage` naming the flag. */
export function readWithHelp(argv: readonly string[]): ReadRun | undefined {
  const command = runCommand();
  if (!parseWith(command, argv, "linefeed")) return undefined;
  return { flags: command.opts<ReadRun["flags"]>(), positional: command.args };
}

function commanderOption({ flags, help, parse, preset, presetText, conflicts }: RunOption): Option {
  const option = new Option(flags, help ?? "");
  if (help === undefined) option.hideHelp();
  if (parse) option.argParser<unknown>(parse);
  if (preset !== undefined) option.default(preset, presetText);
  if (conflicts) option.conflicts(conflicts);
  return option;
}

const COMMANDS_HELP = Object.entries(COMMAND_SUMMARIES)
  .map(([name, summary]) => `  ${name.padEnd(8)} ${summary}\n`)
  .join("");

const EXAMPLES = `
Commands (linefeed <command> --help):
${COMMANDS_HELP}
Times: a bare number is seconds; 500ms, 30s, 5m, 1h.

Examples:
  linefeed -p "why does the build fail?" --output-format jsonl | jq --unbuffered -c .type
  git diff | linefeed -p "review this" --allowed-tools "Bash(git log *)"
  linefeed -p "say hello" --fake script.json --json

Exit codes: 0 ok, 1 error, 2 usage or configuration, 3 limit, 4 denied, 75 try again later, 128+n signal.
`;
