import type { PromptContent } from "../protocol/content.ts";
import { ProcessRun, type AgentRun } from "./agent-run.ts";
import type { StreamEvent } from "./item.ts";
import type { ParseOptions } from "./parser.ts";
import type { ProcessOptions } from "./process/agent-process.ts";
import { builtCommand } from "./process/built-command.ts";
import type { EventsOnly } from "./reader.ts";
import { flagWords, strings, type RunFlags } from "./run-flags.ts";

/** How long a process may take to end after it was asked to, in ms, before it is killed. */
const KILL_AFTER_MS = 5000;
/** They come last, where they count. */
const FORMATS = ["--input-format=jsonl", "--output-format=jsonl"];

/** A run of the command: what it shall do, how it is started, and how its lines are read. Durations in ms. */
export interface RunAgentOptions extends RunFlags, ParseOptions {
  /** The first prompt; it goes through a pipe, so it may be long, and other users of the machine cannot see it. */
  prompt?: PromptContent | undefined;
  /**
   * Whether further prompts come, by `send`; then `end` must be called some time. Default: false where there is a
   * `prompt`, else true.
   */
  keepOpen?: boolean | undefined;
  /** The working folder. Default: the process's. */
  cwd?: string | undefined;
  /** The whole environment, as for `spawn`. Default: the process's. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Cancels the run when it is aborted, as `cancel` does. */
  signal?: AbortSignal | undefined;
  /** Options of the command line that have no name here. */
  extraArgs?: readonly string[] | undefined;
  /** The program to start. Default: this package's own command, by the running Node. */
  executable?: string | undefined;
  /** What stands before all else: with `executable: "npx"` the name `["linefeed"]`, without it options of Node. */
  args?: readonly string[] | undefined;
  /** How long the process may take to end after it was asked to, or after its last word. Then it is killed. Default: 5,000. */
  killAfterMs?: number | undefined;
}

/**
 * Starts linefeed as a process of its own and reads what it says.
 *
 * @example
 * const run = runAgent({ prompt: "Why does the build fail?", allowedTools: ["Bash(npm run *)"] });
 * for await (const event of run) if (event.type === "text_delta") process.stdout.write(event.text);
 * const { status, usage } = await run.result;
 *
 * Throws a TypeError or RangeError at once for an option of the wrong type. Whatever goes wrong later comes out of the
 * loop and of `result`, and nowhere else: a {@link SpawnError}, a {@link StreamEndedError}, an `InvalidLineError` as
 * `onInvalid` says, the reason of a signal that was aborted from the start.
 */
export function runAgent(options: RunAgentOptions & EventsOnly): AgentRun<StreamEvent>;
export function runAgent(options: RunAgentOptions): AgentRun;
export function runAgent(options: RunAgentOptions): AgentRun {
  const { prompt, keepOpen = prompt === undefined, signal } = options;
  const { onInvalid, validate, maxLineBytes } = options;
  assertPrompt(prompt);
  assertSignal(signal);
  const run = new ProcessRun(processOptions(options), { onInvalid, validate, maxLineBytes, signal });
  // Without a prompt, a run that is cancelled already costs nothing.
  if (signal?.aborted) return run;
  if (prompt !== undefined) void run.send(prompt).catch(() => undefined);
  if (!keepOpen) run.end();
  return run;
}

function processOptions(options: RunAgentOptions): ProcessOptions {
  const { executable, killAfterMs = KILL_AFTER_MS } = options;
  if (!(killAfterMs >= 0 && killAfterMs < 2 ** 31)) {
    throw new RangeError(`\`killAfterMs\` of runAgent is a time in ms, not ${String(killAfterMs)}`);
  }
  const before = strings("args", options.args ?? []);
  const after = [...flagWords(options), ...strings("extraArgs", options.extraArgs ?? []), ...FORMATS];
  return {
    command: () =>
      executable === undefined
        ? { executable: process.execPath, args: [...before, builtCommand(), ...after] }
        : { executable, args: [...before, ...after] },
    cwd: options.cwd,
    env: options.env ?? process.env,
    killAfterMs,
    keepChildren: options.keepChildren ?? false,
  };
}

function assertPrompt(prompt: unknown): void {
  if (prompt === undefined || typeof prompt === "string" || Array.isArray(prompt)) return;
  throw new TypeError("`prompt` of runAgent is a string or an array of content blocks");
}

function assertSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new TypeError("`signal` of runAgent is an AbortSignal");
}
