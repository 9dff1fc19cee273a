import { Command, Option } from "commander";
import { PERMISSION_MODES, type PermissionMode } from "../protocol/words.ts";
import { COMMAND_SUMMARIES } from "./command-names.ts";
import { DEFAULTS } from "../run/defaults.ts";
import { VERSION } from "../run/version.ts";
import { FORMATS, type OutputFormat } from "./format.ts";
import { INPUT_FORMATS, type InputFormat } from "./prompt.ts";
import {
  collect,
  parseCount,
  parseDollars,
  parseDuration,
  parsePositiveDuration,
  parseSessionId,
  parseSessionName,
  parseSpeed,
  parseWord,
} from "./values.ts";

/** The flags of a run as commander hands them over: parsed one by one, not yet seen together. */
export interface RunFlags {
  /** Each prompt behind -p; true where it stood alone. */
  print?: true | string[];
  outputFormat?: OutputFormat;
  inputFormat: InputFormat;
  stdin: boolean;
  model?: string;
  provider?: (typeof PROVIDERS)[number];
  baseUrl?: string;
  maxTokens: number;
  effort?: string;
  thinking: "summarized" | "omitted" | "off";
  systemPrompt?: string;
  systemPromptFile?: string;
  appendSystemPrompt?: string;
  appendSystemPromptFile?: string;
  tools?: string[];
  allowedTools?: string[];
  disallowedTools?: string[];
  permissionMode?: PermissionMode;
  dangerouslySkipPermissions?: true;
  permissionPromptTool?: "stdio";
  replayUserMessages?: true;
  addDir?: string[];
  cwd?: string;
  maxSteps?: number;
  timeout?: number;
  toolTimeout: number;
  idleTimeout: number;
  maxRetries: number;
  maxBudgetTokens?: number;
  maxBudgetUsd?: number;
  stopOnError?: true;
  failOnDenied?: true;
  keepChildren?: true;
  bare?: true;
  coalesceMs: number;
  deltas: boolean;
  includeToolInput?: true;
  includePartialMessages?: true;
  heartbeat: number;
  drainTimeout: number;
  fake?: string;
  replaySpeed?: number;
  record?: string;
  deterministic?: true;
  /** Where to tell what goes on; true: on stderr. */
  debug?: true | string;
  keepOpen?: true;
  bg?: true;
  continue?: true;
  /** What names the session; true where nothing does. */
  resume?: true | string;
  forkSession?: true;
  sessionId?: string;
  name?: string;
  force?: true;
  sessionPersistence: boolean;
}

const LATER = "is not part of this version yet";

const MODES: Record<string, PermissionMode> = { bypassPermissions: "bypass" };
const PROVIDERS = ["anthropic", "openai", "fake"] as const;
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** Options of the design that later versions bring; until then they are refused by name. */
const LATER_OPTIONS = ["--store <url>"];

/** Names, flags and help of a run; the only place that knows commander. */
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
  for (const option of [
    ...promptOptions(),
    ...modelOptions(),
    ...toolOptions(),
    ...limitOptions(),
    ...sessionOptions(),
    ...outputOptions(),
  ]) {
    command.addOption(option);
  }
  for (const option of [...acceptedOptions(), ...laterOptions()]) command.addOption(option.hideHelp());
  return command;
}

function promptOptions(): Option[] {
  return [
    new Option(
      "-p, --print [prompt]",
      "run one prompt and exit; may stand alone or before the prompt",
    ).argParser(collect),
    new Option(
      "--input-format <format>",
      "stdin is one prompt (text), has one a line (jsonl), or is a client's (stream-json)",
    )
      .argParser(parseWord(INPUT_FORMATS))
      .default("text"),
    new Option(
      "--replay-user-messages",
      "of stream-json: print each of the client's messages as its turn begins",
    ),
    new Option("--no-stdin", "never read stdin"),
    new Option("--bg", "run in the background: prints the session's id and returns"),
    new Option("--keep-open", "wait for prompts that linefeed send brings"),
    new Option("--system-prompt <text>", "replace the system prompt").conflicts("systemPromptFile"),
    new Option("--system-prompt-file <file>", "replace it by a file's text"),
    new Option("--append-system-prompt <text>", "add to the system prompt").conflicts(
      "appendSystemPromptFile",
    ),
    new Option("--append-system-prompt-file <file>", "add a file's text"),
    new Option("--bare", "leave out the repository's AGENTS.md"),
    new Option("-C, --cwd <folder>", "work in this folder"),
  ];
}

function modelOptions(): Option[] {
  return [
    new Option(
      "-m, --model <name>",
      `the model (ANTHROPIC_MODEL, else ${DEFAULTS.model}; of openai OPENAI_MODEL)`,
    ),
    new Option("--provider <name>", `${PROVIDERS.join(", ")} (default: by the keys that are set)`).argParser(
      parseWord(PROVIDERS),
    ),
    new Option("--base-url <url>", "where the provider's API is (ANTHROPIC_BASE_URL, OPENAI_BASE_URL)"),
    new Option("--max-tokens <n>", "tokens of one answer")
      .argParser(parseCount(1))
      .default(DEFAULTS.maxTokens),
    new Option("--effort <level>", `how hard the model thinks: ${EFFORTS.join(", ")}`).argParser(
      parseWord(EFFORTS),
    ),
    new Option("--thinking <mode>", "summarized, omitted or off")
      .argParser(parseWord(["summarized", "omitted", "off"]))
      .default(DEFAULTS.thinking),
    new Option("--max-retries <n>", "how often a failed model call is tried again")
      .argParser(parseCount(0))
      .default(DEFAULTS.maxRetries),
    new Option("--idle-timeout <time>", "how long the model may say nothing")
      .argParser(parsePositiveDuration)
      .default(DEFAULTS.idleTimeoutMs, "300s"),
    new Option("--fake <file>", "play a script instead of asking a model: offline, no key"),
    new Option("--replay-speed <speed>", "full, recorded, or how many times faster to play it").argParser(
      parseSpeed,
    ),
    new Option("--record <file>", "write what the model answers as a script for --fake"),
  ];
}

function toolOptions(): Option[] {
  return [
    new Option("--tools <names>", 'the tools to offer, "" for none').argParser(collect),
    new Option("--allowed-tools <rules>", 'allow calls: Read, "Bash(git log *)"').argParser(collect),
    new Option("--disallowed-tools <rules>", "deny calls; wins over everything").argParser(collect),
    new Option("--permission-mode <mode>", PERMISSION_MODES.join(", ")).argParser(
      parseWord(PERMISSION_MODES, MODES),
    ),
    new Option(
      "--permission-prompt-tool <where>",
      "stdio, of stream-json: ask the client about calls that nothing allows",
    ).argParser(parseWord(["stdio"])),
    new Option("--dangerously-skip-permissions", "allow everything that no rule denies"),
    new Option("--add-dir <folder>", "a further folder that may be read").argParser(collect),
    new Option("--tool-timeout <time>", "how long a call may take")
      .argParser(parsePositiveDuration)
      .default(DEFAULTS.toolTimeoutMs, "120s"),
    new Option("--keep-children", "let processes that calls started live on after the run"),
    new Option("--fail-on-denied", "exit with 4 if a call was denied"),
  ];
}

function limitOptions(): Option[] {
  return [
    new Option("--max-steps <n>", "model calls of a turn").argParser(parseCount(0)),
    new Option("--max-turns <n>", "the same").argParser(parseCount(0)).hideHelp(),
    new Option("--timeout <time>", "time of the run").argParser(parsePositiveDuration),
    new Option("--max-budget-tokens <n>", "tokens of the run").argParser(parseCount(1)),
    new Option(
      "--max-budget-usd <dollars>",
      "dollars of the run, at the highest prices of Claude models",
    ).argParser(parseDollars),
    new Option("--stop-on-error", "of several prompts, answer none after the first that fails"),
  ];
}

function sessionOptions(): Option[] {
  return [
    new Option("-c, --continue", "carry on the latest session of this folder"),
    new Option(
      "-r, --resume [session]",
      "carry on a session, by id, 4 or more characters of its beginning or end, or name; without one, as -c",
    ),
    new Option("--fork-session", "with -c or -r: go on in a new session, the other stays as it is"),
    new Option("--session-id <uuid>", "the id of the new session").argParser(parseSessionId),
    new Option("--name <name>", "what to call the session").argParser(parseSessionName),
    new Option("--force", "with -c or -r: carry on a session that was last written on another machine"),
    new Option("--no-session-persistence", "keep no log: the session cannot be resumed"),
  ];
}

function outputOptions(): Option[] {
  return [
    new Option(
      "--output-format <format>",
      `${FORMATS.join(", ")} (default: pretty on a terminal, else text)`,
    ).argParser(parseWord(FORMATS)),
    new Option("--json", "short for --output-format jsonl"),
    new Option("--coalesce-ms <n>", "merge deltas for this many ms; 0: every delta its own line")
      .argParser(parseCount(0, 60_000))
      .default(DEFAULTS.coalesceMs),
    new Option("--no-deltas", "leave the deltas out"),
    new Option("--include-tool-input", "stream the arguments of tool calls too"),
    new Option("--heartbeat <time>", "a sign of life after so much silence; 0: none")
      .argParser(parseDuration)
      .default(DEFAULTS.heartbeatMs, "15s"),
    new Option("--drain-timeout <time>", "after a signal, wait so long for a reader that takes nothing")
      .argParser(parseDuration)
      .default(DEFAULTS.drainTimeoutMs, "10s"),
    new Option("--debug [file]", "tell on stderr, or with --debug=FILE in a file, what goes on").argParser(
      (file) => file || true,
    ),
    new Option("--deterministic", "fixed ids and times, merging by rule: the same lines with every run"),
  ];
}

/** Scripts have these, and what they ask for is the case anyway. */
function acceptedOptions(): Option[] {
  return ["--include-partial-messages", "--verbose"].map((flags) => new Option(flags));
}

function laterOptions(): Option[] {
  return LATER_OPTIONS.map((flags) => new Option(flags));
}

/** The first option on the command line that this version does not have, in words. */
export function laterOption(command: Command): string | undefined {
  const later = command.options.find(
    (option) =>
      LATER_OPTIONS.includes(option.flags) && command.getOptionValueSource(option.attributeName()) === "cli",
  );
  return later ? `${later.long ?? later.flags} ${LATER}` : undefined;
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
