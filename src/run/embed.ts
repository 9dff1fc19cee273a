import type { AskPermission } from "../agent/ask.ts";
import { Conversation } from "../agent/conversation.ts";
import { jsonlFormat } from "../emit/formats/jsonl.ts";
import type { ModelClient } from "../model/client.ts";
import type { PromptContent } from "../protocol/content.ts";
import { AgentError } from "../protocol/errors.ts";
import type { EventOf, LinefeedEvent } from "../protocol/event.ts";
import type { PermissionMode } from "../protocol/words.ts";
import { isToolName, TOOL_NAMES } from "../tools/registry.ts";
import { Cancellation } from "./cancellation.ts";
import { DEFAULTS } from "./defaults.ts";
import { EventChannel } from "./event-channel.ts";
import { realFolder } from "./folders.ts";
import type { RunOptions, SessionStart } from "./options.ts";
import { promptList } from "./prompts.ts";
import { parseRules, ruleNotices } from "./rules.ts";
import { run } from "./run.ts";
import { newSessionId } from "./session-id.ts";
import { stateDirectory } from "./state-directory.ts";
import { nameOfTool, type OfferedTool } from "./tool-set.ts";

export type { AskPermission, PermissionAnswer, PermissionQuestion } from "../agent/ask.ts";

/** What an embedded agent is made of. Only `client` and `model` must be given. Durations in ms. */
export interface AgentOptions {
  /** Whom to ask: `createAnthropicClient(…)`, `createOpenAIClient(…)`, `createScriptedClient(…)`, or an object of your own. */
  client: ModelClient;
  model: string;
  /** Names of ours, and tools of your own (`defineTool`). Default: all of ours. */
  tools?: readonly OfferedTool[] | undefined;
  /** The working folder. Default: the process's. */
  cwd?: string | undefined;
  /** Further folders that may be read. */
  addDirs?: readonly string[] | undefined;
  /** Default: `default`. */
  permissionMode?: PermissionMode | undefined;
  /** Rules, such as `Edit` or `Bash(git log *)`. */
  allowedTools?: readonly string[] | undefined;
  /** Rules that win over everything. */
  disallowedTools?: readonly string[] | undefined;
  /** Asked about each call that nothing allows and nothing forbids. Default: such calls are denied. */
  onPermission?: AskPermission | undefined;
  /** Replaces linefeed's own. */
  systemPrompt?: string | undefined;
  /** Stands after it. */
  appendSystemPrompt?: string | undefined;
  /** Whether the repository's AGENTS.md is left out. Default: false. */
  bare?: boolean | undefined;
  /** Tokens of one answer. Default: 32,000. */
  maxTokens?: number | undefined;
  /** How hard the model thinks: `low`, `medium`, `high`, … Default: the model's own. */
  effort?: string | undefined;
  /** Default: `summarized`. */
  thinking?: RunOptions["thinking"] | undefined;
  /** Model calls of a turn. Default: no limit. */
  maxSteps?: number | undefined;
  /** Tokens of a run. Default: no limit. */
  maxBudgetTokens?: number | undefined;
  /** Dollars of a run, at the highest prices of Claude models. Default: no limit. */
  maxBudgetUsd?: number | undefined;
  /** Time of a run. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Time of a call. Default: 120,000. */
  toolTimeoutMs?: number | undefined;
  /** How long the model may say nothing. Default: 300,000. */
  idleTimeoutMs?: number | undefined;
  /** How often a failed model call is tried again. Default: 6. */
  maxRetries?: number | undefined;
  /** Whether a denied call makes the run an error. Default: false. */
  failOnDenied?: boolean | undefined;
  /** Whether processes that calls started live on after the run. Default: false. */
  keepChildren?: boolean | undefined;
  /** For how long deltas are merged. Default: 50; 0: every delta comes by itself. */
  coalesceMs?: number | undefined;
  /** Whether deltas come at all. Default: true. */
  deltas?: boolean | undefined;
  /** Whether the arguments of calls are streamed too. Default: false. */
  includeToolInput?: boolean | undefined;
  /** After how long a silence a heartbeat comes. Default: 15,000; 0: never. */
  heartbeatMs?: number | undefined;
  /** The environment of commands; the model's keys are taken out of it. Default: the process's. */
  environment?: NodeJS.ProcessEnv | undefined;
  /** A UUID. Default: a new one of version 7. */
  sessionId?: string | undefined;
}

export interface AgentRunOptions {
  /** Cancels the run; its events go on to the `result`, whose status is then `cancelled`. */
  signal?: AbortSignal | undefined;
}

/** A session with an agent in this process; its runs come one after the other, and each knows of those before. */
export interface EmbeddedAgent {
  readonly sessionId: string;
  /**
   * Answers a prompt: the events of one run, from `init` to `result`, as the command prints them. Lazy: nothing
   * happens before the first is asked for. Failures are events too. Whoever leaves early ends the run, and comes
   * out of the loop when all that it started has ended (10 s at most).
   *
   * @throws AgentError `usage` if another run of this agent is under way.
   */
  run(prompt: PromptContent, options?: AgentRunOptions): AsyncGenerator<LinefeedEvent, void, undefined>;
  /** The same, waited for: its `result`, whatever its status. */
  ask(prompt: PromptContent, options?: AgentRunOptions): Promise<EventOf<"result">>;
}

/**
 * An agent to use from a program: no process, no command line, no stdout, no signal handlers.
 *
 * @throws AgentError `usage` naming the option that cannot be used.
 */
export function createAgent(options: AgentOptions): EmbeddedAgent {
  return new Embedded(options);
}

type Settled = Omit<RunOptions, "session" | "prompts" | "notices">;

class Embedded implements EmbeddedAgent {
  readonly #options: Settled;
  #session: SessionStart;
  #busy = false;

  constructor(options: AgentOptions) {
    this.#options = settle(options);
    this.#session = {
      id: options.sessionId ?? newSessionId(Date.now()),
      conversation: new Conversation(),
      nextSeq: 1,
    };
  }

  get sessionId(): string {
    return this.#session.id;
  }

  async *run(
    prompt: PromptContent,
    { signal }: AgentRunOptions = {},
  ): AsyncGenerator<LinefeedEvent, void, undefined> {
    if (this.#busy) {
      throw new AgentError(
        "usage",
        "a run of this agent is under way; wait for its end, or make another agent",
      );
    }
    this.#busy = true;
    const cancellation = new Cancellation();
    const cancel = () =>
      cancellation.cancel(new AgentError("cancelled", "the run was ended by the signal that it was given"));
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    const channel = new EventChannel();
    const session = this.#session;
    const ended = this.#start(session, prompt, channel, cancellation);
    try {
      for (let event = await channel.next(); event; event = await channel.next()) {
        session.nextSeq = event.seq + 1;
        yield event;
      }
    } finally {
      channel.close();
      signal?.removeEventListener("abort", cancel);
      try {
        await ended;
      } finally {
        this.#session = { ...session, conversation: session.conversation.next() };
        this.#busy = false;
      }
    }
  }

  async ask(prompt: PromptContent, options?: AgentRunOptions): Promise<EventOf<"result">> {
    let result: EventOf<"result"> | undefined;
    for await (const event of this.run(prompt, options)) {
      if (event.type === "result") result = event;
    }
    if (!result) throw new AgentError("internal", "a run ended without its result");
    return result;
  }

  async #start(
    session: SessionStart,
    prompt: PromptContent,
    channel: EventChannel,
    cancellation: Cancellation,
  ): Promise<void> {
    const notices = session.nextSeq === 1 ? ruleNotices(this.#options) : [];
    try {
      await run(
        { ...this.#options, session: { ...session }, prompts: promptList([prompt]), notices },
        { sink: channel, format: jsonlFormat(), cancellation, date: () => new Date(), random: Math.random },
      );
    } finally {
      channel.end();
    }
  }
}

function settle(options: AgentOptions): Settled {
  const cwd = realFolder(options.cwd ?? ".", "cwd");
  const tools = toolsOf(options.tools ?? TOOL_NAMES);
  const names = tools.map(nameOfTool);
  const rules = (lists: readonly string[] = []) => lists.flatMap((list) => parseRules(list, cwd, names));
  const environment = options.environment ?? process.env;
  return {
    provider: { name: "own", client: options.client },
    model: options.model,
    tools,
    cwd,
    addDirs: (options.addDirs ?? []).map((path) => realFolder(path, "addDirs", cwd)),
    secretFolders: [stateDirectory(environment)].filter((path) => path !== undefined),
    permissionMode: options.permissionMode ?? "default",
    allow: rules(options.allowedTools),
    deny: rules(options.disallowedTools),
    ask: options.onPermission,
    systemPrompt: options.systemPrompt,
    appendSystemPrompt: options.appendSystemPrompt,
    bare: options.bare ?? false,
    maxTokens: options.maxTokens ?? DEFAULTS.maxTokens,
    effort: options.effort,
    thinking: options.thinking ?? DEFAULTS.thinking,
    maxSteps: options.maxSteps,
    maxBudgetTokens: options.maxBudgetTokens,
    maxBudgetUsd: options.maxBudgetUsd,
    timeoutMs: options.timeoutMs,
    toolTimeoutMs: options.toolTimeoutMs ?? DEFAULTS.toolTimeoutMs,
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
    maxRetries: options.maxRetries ?? DEFAULTS.maxRetries,
    // A run has one prompt here.
    stopOnError: false,
    failOnDenied: options.failOnDenied ?? false,
    keepChildren: options.keepChildren ?? false,
    coalesceMs: options.coalesceMs ?? DEFAULTS.coalesceMs,
    deltas: options.deltas ?? true,
    includeToolInput: options.includeToolInput ?? false,
    heartbeatMs: options.heartbeatMs ?? DEFAULTS.heartbeatMs,
    drainTimeoutMs: DEFAULTS.drainTimeoutMs,
    keepOpen: false,
    environment,
    record: undefined,
    deterministic: false,
    debug: undefined,
  };
}

/** Programs without types may name anything. */
function toolsOf(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  const seen = new Set<string>();
  for (const tool of tools) {
    const name = nameOfTool(tool);
    if (typeof tool === "string" && !isToolName(tool)) {
      throw new AgentError(
        "usage",
        `tools names "${String(tool)}"; ours are ${TOOL_NAMES.join(", ")}, and your own are made with defineTool`,
      );
    }
    if (seen.has(name)) throw new AgentError("usage", `tools has two tools named ${name}`);
    seen.add(name);
  }
  return tools;
}
