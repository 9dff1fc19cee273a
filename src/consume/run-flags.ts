import type { PermissionMode } from "../protocol/words.ts";

/** The options of the command line that a program can set by name. Durations in ms; without a value the default holds. */
export interface RunFlags {
  /** The model. */
  model?: string | undefined;
  /** Whose model it is: `anthropic`, `openai`, `fake`. */
  provider?: string | undefined;
  /** Where the provider's API is. */
  baseUrl?: string | undefined;
  /** The path of a script to play instead of asking a model: offline, without a key. */
  fake?: string | undefined;
  /** How fast a recorded script plays: `full`, `recorded`, or how many times faster. */
  replaySpeed?: number | "full" | "recorded" | undefined;
  /** The path of a script to write what the model answers to. */
  record?: string | undefined;
  /** Tokens of one answer. */
  maxTokens?: number | undefined;
  /** How hard the model thinks: `low`, `medium`, `high`, … */
  effort?: string | undefined;
  thinking?: "summarized" | "omitted" | "off" | undefined;
  /** How often a failed model call is tried again. */
  maxRetries?: number | undefined;
  /** Replaces linefeed's own. */
  systemPrompt?: string | undefined;
  /** Stands after it. */
  appendSystemPrompt?: string | undefined;
  /** Leaves out the repository's AGENTS.md. */
  bare?: boolean | undefined;
  /** The tools to offer; none: `[]`. */
  tools?: readonly string[] | undefined;
  /** Rules that allow calls: `Read`, `Bash(git log *)`. */
  allowedTools?: readonly string[] | undefined;
  /** Rules that deny calls; they win over everything. */
  disallowedTools?: readonly string[] | undefined;
  /** `bypass` allows everything that no rule denies. */
  permissionMode?: PermissionMode | undefined;
  /** Further folders that may be read. */
  addDirs?: readonly string[] | undefined;
  /** A denied call makes the run an error. */
  failOnDenied?: boolean | undefined;
  /** Lets processes that calls started live on after the run, however it ends. */
  keepChildren?: boolean | undefined;
  /** Model calls of a turn. */
  maxSteps?: number | undefined;
  /** Tokens of the run. */
  maxBudgetTokens?: number | undefined;
  /** Dollars of the run, at the highest prices of Claude models. */
  maxBudgetUsd?: number | undefined;
  /** Time of the run. */
  timeoutMs?: number | undefined;
  /** Time of a call. */
  toolTimeoutMs?: number | undefined;
  /** How long the model may say nothing. */
  idleTimeoutMs?: number | undefined;
  /** Ends the run with the first turn that is not `ok`. */
  stopOnError?: boolean | undefined;
  /** For how long deltas are merged; 0: every delta comes by itself. */
  coalesceMs?: number | undefined;
  /** false: no deltas. */
  deltas?: boolean | undefined;
  /** Streams the arguments of tool calls too. */
  includeToolInput?: boolean | undefined;
  /** After how long a silence a heartbeat comes; 0: never. */
  heartbeatMs?: number | undefined;
  /** After it was cancelled, how long linefeed waits for a reader that takes nothing. */
  drainTimeoutMs?: number | undefined;
  /** Fixed ids and times: the same lines with every run. */
  deterministic?: boolean | undefined;
  /** The path of a file to which linefeed tells what goes on, for whoever looks for a fault. */
  debug?: string | undefined;
  /** Carries a session on: its id, a piece of its id, or its name. */
  resume?: string | undefined;
  /** Carries on the session of the folder that was written to last. */
  continue?: boolean | undefined;
  /** With one of these: goes on in a new session, the other stays as it is. */
  forkSession?: boolean | undefined;
  /** With one of these: carries on a session that was last written on another machine. */
  force?: boolean | undefined;
  /** The id of the new session, a UUID. */
  sessionId?: string | undefined;
  /** What to call the session. */
  name?: string | undefined;
  /** false: keeps no log, so that the session cannot be resumed. */
  sessionPersistence?: boolean | undefined;
  /** With a store (LINEFEED_STORE in `env`): takes prompts from it; whoever can write there can then run commands here. */
  remoteControl?: boolean | undefined;
  /** With a store: for how long it keeps the session after its last line. */
  retainMs?: number | undefined;
  /** With a store: about how many of the session's last lines it keeps. */
  retainLines?: number | undefined;
}

/** `list`: one value, the words joined; `each`: the flag once for each value; `off`: said when it is false. */
type Kind = "text" | "number" | "speed" | "ms" | "list" | "each" | "on" | "off";

/** How each option is said on the command line. */
export const FLAGS = {
  model: ["--model", "text"],
  provider: ["--provider", "text"],
  baseUrl: ["--base-url", "text"],
  fake: ["--fake", "text"],
  replaySpeed: ["--replay-speed", "speed"],
  record: ["--record", "text"],
  maxTokens: ["--max-tokens", "number"],
  effort: ["--effort", "text"],
  thinking: ["--thinking", "text"],
  maxRetries: ["--max-retries", "number"],
  systemPrompt: ["--system-prompt", "text"],
  appendSystemPrompt: ["--append-system-prompt", "text"],
  bare: ["--bare", "on"],
  tools: ["--tools", "list"],
  allowedTools: ["--allowed-tools", "each"],
  disallowedTools: ["--disallowed-tools", "each"],
  permissionMode: ["--permission-mode", "text"],
  addDirs: ["--add-dir", "each"],
  failOnDenied: ["--fail-on-denied", "on"],
  keepChildren: ["--keep-children", "on"],
  maxSteps: ["--max-steps", "number"],
  maxBudgetTokens: ["--max-budget-tokens", "number"],
  maxBudgetUsd: ["--max-budget-usd", "number"],
  timeoutMs: ["--timeout", "ms"],
  toolTimeoutMs: ["--tool-timeout", "ms"],
  idleTimeoutMs: ["--idle-timeout", "ms"],
  stopOnError: ["--stop-on-error", "on"],
  coalesceMs: ["--coalesce-ms", "number"],
  deltas: ["--no-deltas", "off"],
  includeToolInput: ["--include-tool-input", "on"],
  heartbeatMs: ["--heartbeat", "ms"],
  drainTimeoutMs: ["--drain-timeout", "ms"],
  deterministic: ["--deterministic", "on"],
  debug: ["--debug", "text"],
  resume: ["--resume", "text"],
  continue: ["--continue", "on"],
  forkSession: ["--fork-session", "on"],
  force: ["--force", "on"],
  sessionId: ["--session-id", "text"],
  name: ["--name", "text"],
  sessionPersistence: ["--no-session-persistence", "off"],
  remoteControl: ["--remote-control", "on"],
  retainMs: ["--retain", "ms"],
  retainLines: ["--retain-lines", "number"],
} as const satisfies Record<keyof RunFlags, readonly [flag: string, kind: Kind]>;

/**
 * The options as words of a command line, each value tied to its flag, so that one that begins with dashes is no flag.
 * Whether linefeed takes a value is left to linefeed.
 * @throws TypeError naming an option that is of another type.
 */
export function flagWords(options: RunFlags): string[] {
  const names = Object.keys(FLAGS) as (keyof RunFlags)[];
  return names.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : wordsOf(name, value);
  });
}

function wordsOf(name: keyof RunFlags, value: unknown): string[] {
  const [flag, kind] = FLAGS[name];
  switch (kind) {
    case "text":
      if (typeof value === "string") return [`${flag}=${value}`];
      throw wrong(name, "a string");
    case "number":
      if (typeof value === "number" && Number.isFinite(value)) return [`${flag}=${value}`];
      throw wrong(name, "a number");
    case "speed":
      if (typeof value === "string" || typeof value === "number") return [`${flag}=${value}`];
      throw wrong(name, "a number or a word");
    case "ms":
      if (typeof value === "number" && Number.isFinite(value)) return [`${flag}=${value}ms`];
      throw wrong(name, "a number of milliseconds");
    case "list":
      return [`${flag}=${strings(name, value).join(",")}`];
    case "each":
      return strings(name, value).map((word) => `${flag}=${word}`);
    case "on":
    case "off":
      if (typeof value !== "boolean") throw wrong(name, "true or false");
      return value === (kind === "on") ? [flag] : [];
    default:
      return kind satisfies never;
  }
}

export function strings(name: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every((word) => typeof word === "string")) return value;
  throw wrong(name, "an array of strings");
}

function wrong(name: string, what: string): TypeError {
  return new TypeError(`\`${name}\` of runAgent is ${what}`);
}
