import { join } from "node:path";
import * as z from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { Conversation } from "../../src/agent/conversation.ts";
import type { Limits } from "../../src/agent/limits.ts";
import { parseRules } from "../../src/run/rules.ts";
import { encode } from "../../src/emit/encode.ts";
import { Merge } from "../../src/emit/merge.ts";
import { createStamp, stampLone } from "../../src/emit/stamp.ts";
import type { ModelClient } from "../../src/model/client.ts";
import { createScriptedClient } from "../../src/model/scripted/client.ts";
import type { Script } from "../../src/model/scripted/script.ts";
import { toErrorInfo, type AgentError } from "../../src/protocol/errors.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/version.ts";
import { Cancellation } from "../../src/run/cancellation.ts";
import { loneResult, Tally } from "../../src/run/tally.ts";
import { VERSION } from "../../src/run/version.ts";
import type { Clock } from "../../src/tools/clock.ts";
import { TOOL_NAMES } from "../../src/tools/registry.ts";
import type { Tool, ToolContext, ToolOutput, ToolResult } from "../../src/tools/tool.ts";

const CWD = "/home/user/project";
const BEGIN = Date.UTC(2026, 0, 15, 9, 30);
/** Of version 7, made at `BEGIN`. */
const SESSION_ID = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97";
const COALESCE_MS = 50;
/** How long the model takes for a piece of four characters, in ms. */
const PIECE_MS = 13;
const IDLE_MS = 300_000;

/** A clock that only the things that happen move on. */
export class GoldenClock implements Clock {
  #now = 0;

  now(): number {
    return this.#now;
  }

  active(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(BEGIN + this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  /** The watch over the model's silence sleeps until it is stopped; whoever waits for a retry gets there at once. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms < IDLE_MS / 2) return this.advance(ms);
    await aborted(signal);
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** What a call does in a golden run. */
export type FakeCall = (
  context: ToolContext,
  clock: GoldenClock,
) => AsyncGenerator<ToolOutput, Partial<ToolResult>, undefined>;

export interface GoldenRun {
  /** Several prompts, or what cannot be read as one, make several turns. */
  prompt: string | readonly (string | AgentError)[];
  answers: Script["answers"];
  /** By command or path. */
  calls?: Record<string, FakeCall>;
  allow?: string;
  limits?: Partial<Limits>;
  maxRetries?: number;
  includeToolInput?: boolean;
  /** The window in which deltas merge, in ms. */
  coalesceMs?: number;
  /** What happens beside the agent, after an event: signals, heartbeats. */
  after?: (body: EventBody, beside: { cancellation: Cancellation; emit: (body: EventBody) => void }) => void;
}

/** Plays a whole run without a process, a timer or anything random; returns its lines. */
export async function goldenRun(run: GoldenRun): Promise<string> {
  const clock = new GoldenClock();
  const cancellation = new Cancellation();
  const tally = new Tally();
  const lines = new Lines(clock, run.coalesceMs ?? COALESCE_MS);
  const emit = (body: EventBody) => {
    tally.apply(body);
    lines.add(body);
  };
  emit({
    type: "init",
    protocol: PROTOCOL_VERSION,
    version: VERSION,
    model: "fake",
    provider: "fake",
    cwd: CWD,
    tools: [...TOOL_NAMES],
    permission_mode: "default",
    resumed: false,
  });
  clock.advance(9);
  const agent = createAgent(run, clock);
  for (const prompt of [run.prompt].flat()) {
    const turn =
      typeof prompt === "string" ? agent.runTurn(prompt, cancellation.signal) : agent.refuseTurn(prompt);
    for (let next = await turn.next(); ; next = await turn.next()) {
      if (next.done) {
        tally.endTurn(next.value);
        break;
      }
      emit(next.value);
      run.after?.(next.value, { cancellation, emit });
    }
  }
  emit(
    tally.result({
      durationMs: clock.now(),
      childrenLeft: [],
      signal: cancellation.reasonSignal,
      failOnDenied: false,
    }),
  );
  return lines.text;
}

/** The one line of a run that never began. */
export function goldenFailure(error: AgentError): string {
  return encode(stampLone(loneResult(toErrorInfo(error), null), null, new Date(BEGIN)));
}

/** Merge, stamp and encode, with the window measured on the golden clock. */
class Lines {
  text = "";
  readonly #clock: GoldenClock;
  readonly #merge = new Merge();
  readonly #stamp: ReturnType<typeof createStamp>;
  readonly #coalesceMs: number;
  #since = 0;

  constructor(clock: GoldenClock, coalesceMs: number) {
    this.#clock = clock;
    this.#coalesceMs = coalesceMs;
    this.#stamp = createStamp({ sessionId: SESSION_ID, firstSeq: 1, date: () => clock.date() });
  }

  add(body: EventBody): void {
    const wasEmpty = this.#merge.units === 0;
    this.#write(this.#merge.add(body));
    if (wasEmpty) this.#since = this.#clock.now();
    if (this.#merge.urgent || this.#clock.now() - this.#since >= this.#coalesceMs)
      this.#write(this.#merge.flush());
  }

  #write(bodies: readonly EventBody[]): void {
    for (const body of bodies) this.text += encode(this.#stamp(body));
  }
}

function createAgent(run: GoldenRun, clock: GoldenClock): Agent {
  return new Agent({
    client: timed(createScriptedClient({ answers: run.answers }), clock),
    request: () => ({
      model: "fake",
      system: "",
      tools: [],
      maxTokens: 32_000,
      effort: undefined,
      thinking: "summarized",
    }),
    runner: {
      tools: async () => [fakeBash(run, clock), fakeRead(run, clock)],
      policy: {
        mode: "default",
        allow: parseRules(run.allow ?? "", CWD),
        deny: [],
        roots: [CWD],
        secretFolders: [],
      },
      context: {
        cwd: CWD,
        clock,
        timeoutMs: 120_000,
        outputDirectory: () => {
          throw new Error("no golden run has long output");
        },
        environment: {},
        processMark: "golden",
        seenFiles: new Map(),
      },
    },
    conversation: new Conversation(),
    limits: { maxSteps: undefined, maxBudgetTokens: undefined, ...run.limits },
    call: {
      maxRetries: run.maxRetries ?? 6,
      idleTimeoutMs: IDLE_MS,
      includeToolInput: run.includeToolInput ?? false,
      random: () => 0.5,
    },
  });
}

/** Each piece takes its time, the first more. */
function timed(client: ModelClient, clock: GoldenClock): ModelClient {
  return {
    provider: client.provider,
    async *stream(request, signal) {
      clock.advance(400);
      for await (const chunk of client.stream(request, signal)) {
        clock.advance(PIECE_MS);
        yield chunk;
      }
    },
  };
}

function fakeBash(run: GoldenRun, clock: GoldenClock): Tool<{ command: string }> {
  return {
    name: "Bash",
    description: "",
    input: z.strictObject({ command: z.string() }),
    readOnly: false,
    summary: ({ command }) => command,
    access: async ({ command }) => ({ kind: "execute", command }),
    run: ({ command }, context) => play(run, command, context, clock),
  };
}

function fakeRead(run: GoldenRun, clock: GoldenClock): Tool<{ file_path: string }> {
  return {
    name: "Read",
    description: "",
    input: z.strictObject({ file_path: z.string() }),
    readOnly: true,
    summary: ({ file_path }) => file_path,
    access: async ({ file_path }) => ({ kind: "read", path: join(CWD, file_path), requested: file_path }),
    run: ({ file_path }, context) => play(run, file_path, context, clock),
  };
}

async function* play(
  run: GoldenRun,
  what: string,
  context: ToolContext,
  clock: GoldenClock,
): AsyncGenerator<ToolOutput, ToolResult, undefined> {
  const call = run.calls?.[what];
  if (!call) throw new Error(`the golden run has no call ${what}`);
  const result = yield* call(context, clock);
  return { status: "ok", content: "", exitCode: null, truncated: false, outputFile: null, ...result };
}
