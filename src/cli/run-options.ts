import { DEFAULTS } from "../run/defaults.ts";
import { PERMISSION_MODES, type PermissionMode } from "../protocol/words.ts";
import type { RunFlags } from "./flags.ts";
import { FORMATS } from "./format.ts";
import { INPUT_FORMATS } from "./prompt.ts";
import {
  collect,
  parseCount,
  parseDollars,
  parseDuration,
  parsePositiveDuration,
  parseRetention,
  parseSessionId,
  parseSessionName,
  parseSpeed,
  parseWord,
} from "./values.ts";

const MODES: Record<string, PermissionMode> = { bypassPermissions: "bypass" };
const PROVIDERS = ["anthropic", "openai", "fake"] as const;
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** An option of a run: the one place that says what it is called, what it takes and what it means. */
export interface RunOption {
  /** Short and long name and value: `-m, --model <name>`; `[name]` need not be there; `--no-x` says that x is not to be. */
  flags: string;
  /** What it means, for the help; options without it are not shown there. */
  help?: string;
  /** `before`: what it came to with the same option before. @throws InvalidValue */
  parse?: (text: string, before: unknown) => unknown;
  /** The value if it is not given, and how it is shown. */
  preset?: unknown;
  presetText?: string;
  /** The option that it cannot stand beside, as it is called in {@link RunFlags}. */
  conflicts?: keyof RunFlags;
}

export const RUN_OPTIONS: readonly RunOption[] = [
  {
    flags: "-p, --print [prompt]",
    help: "run one prompt and exit; may stand alone or before the prompt",
    parse: collect,
  },
  {
    flags: "--input-format <format>",
    help: "stdin is one prompt (text), has one a line (jsonl), or is a client's (stream-json)",
    parse: parseWord(INPUT_FORMATS),
    preset: "text",
  },
  {
    flags: "--replay-user-messages",
    help: "of stream-json: print each of the client's messages as its turn begins",
  },
  { flags: "--no-stdin", help: "never read stdin" },
  { flags: "--bg", help: "run in the background: prints the session's id and returns" },
  { flags: "--keep-open", help: "wait for prompts that linefeed send brings" },
  { flags: "--system-prompt <text>", help: "replace the system prompt", conflicts: "systemPromptFile" },
  { flags: "--system-prompt-file <file>", help: "replace it by a file's text" },
  {
    flags: "--append-system-prompt <text>",
    help: "add to the system prompt",
    conflicts: "appendSystemPromptFile",
  },
  { flags: "--append-system-prompt-file <file>", help: "add a file's text" },
  { flags: "--bare", help: "leave out the repository's AGENTS.md" },
  { flags: "-C, --cwd <folder>", help: "work in this folder" },
  {
    flags: "-m, --model <name>",
    help: `the model (ANTHROPIC_MODEL, else ${DEFAULTS.model}; of openai OPENAI_MODEL)`,
  },
  {
    flags: "--provider <name>",
    help: `${PROVIDERS.join(", ")} (default: by the keys that are set)`,
    parse: parseWord(PROVIDERS),
  },
  { flags: "--base-url <url>", help: "where the provider's API is (ANTHROPIC_BASE_URL, OPENAI_BASE_URL)" },
  {
    flags: "--max-tokens <n>",
    help: "tokens of one answer",
    parse: parseCount(1),
    preset: DEFAULTS.maxTokens,
  },
  {
    flags: "--effort <level>",
    help: `how hard the model thinks: ${EFFORTS.join(", ")}`,
    parse: parseWord(EFFORTS),
  },
  {
    flags: "--thinking <mode>",
    help: "summarized, omitted or off",
    parse: parseWord(["summarized", "omitted", "off"]),
    preset: DEFAULTS.thinking,
  },
  {
    flags: "--max-retries <n>",
    help: "how often a failed model call is tried again",
    parse: parseCount(0),
    preset: DEFAULTS.maxRetries,
  },
  {
    flags: "--idle-timeout <time>",
    help: "how long the model may say nothing",
    parse: parsePositiveDuration,
    preset: DEFAULTS.idleTimeoutMs,
    presetText: "300s",
  },
  { flags: "--fake <file>", help: "play a script instead of asking a model: offline, no key" },
  {
    flags: "--replay-speed <speed>",
    help: "full, recorded, or how many times faster to play it",
    parse: parseSpeed,
  },
  { flags: "--record <file>", help: "write what the model answers as a script for --fake" },
  { flags: "--tools <names>", help: 'the tools to offer, "" for none', parse: collect },
  { flags: "--allowed-tools <rules>", help: 'allow calls: Read, "Bash(git log *)"', parse: collect },
  { flags: "--disallowed-tools <rules>", help: "deny calls; wins over everything", parse: collect },
  {
    flags: "--permission-mode <mode>",
    help: PERMISSION_MODES.join(", "),
    parse: parseWord(PERMISSION_MODES, MODES),
  },
  {
    flags: "--permission-prompt-tool <where>",
    help: "stdio, of stream-json: ask the client about calls that nothing allows",
    parse: parseWord(["stdio"]),
  },
  { flags: "--dangerously-skip-permissions", help: "allow everything that no rule denies" },
  { flags: "--add-dir <folder>", help: "a further folder that may be read", parse: collect },
  {
    flags: "--tool-timeout <time>",
    help: "how long a call may take",
    parse: parsePositiveDuration,
    preset: DEFAULTS.toolTimeoutMs,
    presetText: "120s",
  },
  { flags: "--keep-children", help: "let processes that calls started live on after the run" },
  { flags: "--fail-on-denied", help: "exit with 4 if a call was denied" },
  { flags: "--max-steps <n>", help: "model calls of a turn", parse: parseCount(0) },
  { flags: "--max-turns <n>", parse: parseCount(0) },
  { flags: "--timeout <time>", help: "time of the run", parse: parsePositiveDuration },
  { flags: "--max-budget-tokens <n>", help: "tokens of the run", parse: parseCount(1) },
  {
    flags: "--max-budget-usd <dollars>",
    help: "dollars of the run, at the highest prices of Claude models",
    parse: parseDollars,
  },
  { flags: "--stop-on-error", help: "of several prompts, answer none after the first that fails" },
  { flags: "-c, --continue", help: "carry on the latest session of this folder" },
  {
    flags: "-r, --resume [session]",
    help: "carry on a session, by id, 4 or more characters of its beginning or end, or name; without one, as -c",
  },
  { flags: "--fork-session", help: "with -c or -r: go on in a new session, the other stays as it is" },
  { flags: "--session-id <uuid>", help: "the id of the new session", parse: parseSessionId },
  {
    flags: "--name <name>",
    help: "what to call the session; a name that a running one has is refused",
    parse: parseSessionName,
  },
  { flags: "--force", help: "with -c or -r: carry on a session that was last written on another machine" },
  { flags: "--no-session-persistence", help: "keep no log: the session cannot be resumed" },
  {
    flags: "--store <url>",
    help: "keep the session in a Redis too, for other machines: redis://host:6379/0 (LINEFEED_STORE)",
  },
  {
    flags: "--remote-control",
    help: "with a store: take prompts from it; who can write there can then run commands here",
  },
  {
    flags: "--retain <age>",
    help: "with a store: keep it there for so long after its last line, 7d or 12h; else until linefeed rm",
    parse: parseRetention,
  },
  {
    flags: "--retain-lines <n>",
    help: "with a store: keep about so many of its last lines there",
    parse: parseCount(1),
  },
  {
    flags: "--output-format <format>",
    help: `${FORMATS.join(", ")} (default: pretty on a terminal, else text)`,
    parse: parseWord(FORMATS),
  },
  { flags: "--json", help: "short for --output-format jsonl" },
  {
    flags: "--coalesce-ms <n>",
    help: "merge deltas for this many ms; 0: every delta its own line",
    parse: parseCount(0, 60_000),
    preset: DEFAULTS.coalesceMs,
  },
  { flags: "--no-deltas", help: "leave the deltas out" },
  { flags: "--include-tool-input", help: "stream the arguments of tool calls too" },
  {
    flags: "--heartbeat <time>",
    help: "a sign of life after so much silence; 0: none",
    parse: parseDuration,
    preset: DEFAULTS.heartbeatMs,
    presetText: "15s",
  },
  {
    flags: "--drain-timeout <time>",
    help: "after a signal, wait so long for a reader that takes nothing",
    parse: parseDuration,
    preset: DEFAULTS.drainTimeoutMs,
    presetText: "10s",
  },
  {
    flags: "--debug [file]",
    help: "tell on stderr, or with --debug=FILE in a file, what goes on",
    parse: (file) => file || true,
  },
  { flags: "--deterministic", help: "fixed ids and times, merging by rule: the same lines with every run" },
  // Scripts have it, and what it asks for is the case anyway.
  { flags: "--verbose" },
  { flags: "--include-partial-messages" },
];
