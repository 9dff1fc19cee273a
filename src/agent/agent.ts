import type { DoneChunk, ModelClient, ModelRequest } from "../model/client.ts";
import type { PromptContent, ToolUseBlock, Usage } from "../protocol/content.ts";
import type { EventBody } from "../protocol/event.ts";
import { AgentError, toErrorInfo, type ErrorInfo } from "../protocol/errors.ts";
import { statusOf } from "../protocol/exit-codes.ts";
import type { StepStatus, StopReason } from "../protocol/words.ts";
import { judgeAnswer, judgeCalls } from "./answer.ts";
import { History } from "./history.ts";
import { checkBudget, checkSteps, type Limits } from "./limits.ts";
import { callModel, type ModelCall, type ModelCallTimes } from "./step.ts";
import { runToolCalls, skipToolCalls, type ToolRunner } from "./tool-calls.ts";
import { UsageTotal } from "./usage.ts";

export interface AgentOptions {
  client: ModelClient;
  /** What every request has in common. */
  request: Omit<ModelRequest, "messages">;
  runner: ToolRunner;
  limits: Limits;
  call: Pick<ModelCall, "maxRetries" | "idleTimeoutMs" | "includeToolInput" | "random">;
}

/** How a turn ended: what `turn_end` says, and what the run's last word needs beyond it. */
export interface TurnOutcome {
  error: ErrorInfo | null;
  stopReason: StopReason | null;
  /** The final answer; null where there is none. */
  text: string | null;
  /** Time in model calls, in ms. */
  apiMs: number;
}

interface TurnState {
  turn: number;
  steps: number;
  usage: UsageTotal;
  times: ModelCallTimes;
  stopReason: StopReason | null;
  text: string | null;
  /** Messages in a row that were cut at `--max-tokens` before any of their calls could run. */
  cutInARow: number;
}

/**
 * The loop: model → tools → model, until the model has answered. It knows no clock of its own, no
 * output and no line numbers; what it does, it says as event bodies.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #history = new History();
  readonly #runUsage = new UsageTotal();
  #turns = 0;
  #steps = 0;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /**
   * Answers one prompt. Lazy: nothing happens until it is pulled, and only as far as it is pulled. When
   * `signal` aborts (its reason is an AgentError that says why), or the caller leaves early, the
   * running call is ended and nothing further begins. Every failure ends as a `turn_end`; it throws never.
   */
  async *runTurn(prompt: PromptContent, signal: AbortSignal): AsyncGenerator<EventBody, TurnOutcome, undefined> {
    const { clock } = this.#options.runner.context;
    const begun = clock.now();
    const state: TurnState = {
      turn: (this.#turns += 1),
      steps: 0,
      usage: new UsageTotal(),
      times: { apiMs: 0, ttftMs: null },
      stopReason: null,
      text: null,
      cutInARow: 0,
    };
    let error: ErrorInfo | null = null;
    yield this.#record(state, { type: "turn_start", turn: state.turn, prompt });
    try {
      let answered = false;
      while (!answered) {
        if (signal.aborted) throw signal.reason;
        checkSteps(state.steps, this.#options.limits);
        answered = yield* this.#step(state, signal);
      }
    } catch (thrown) {
      error = toErrorInfo(thrown);
    }
    yield {
      type: "turn_end",
      turn: state.turn,
      status: error ? statusOf(error.code) : "ok",
      stop_reason: state.stopReason,
      steps: state.steps,
      usage: state.usage.total,
      duration_ms: Math.round(clock.now() - begun),
      error,
    };
    return { error, stopReason: state.stopReason, text: state.text, apiMs: state.times.apiMs };
  }

  /** One model call and the tools that it asks for. Returns whether the turn is answered. */
  async *#step(state: TurnState, signal: AbortSignal): AsyncGenerator<EventBody, boolean, undefined> {
    const { clock } = this.#options.runner.context;
    const begun = clock.now();
    const step = (this.#steps += 1);
    state.steps += 1;
    state.stopReason = null;
    state.text = null;
    let status: StepStatus = "ok";
    let failure: unknown;
    try {
      const message = yield* this.#ask(step, state, signal);
      yield* this.#runCalls(step, message, state, signal);
    } catch (thrown) {
      failure = thrown;
      status = signal.aborted ? "cancelled" : "error";
    }
    yield {
      type: "step_end",
      turn: state.turn,
      step,
      status,
      stop_reason: state.stopReason,
      ttft_ms: state.times.ttftMs === null ? null : Math.round(state.times.ttftMs),
      duration_ms: Math.round(clock.now() - begun),
    };
    if (failure !== undefined) throw failure;
    return state.text !== null;
  }

  async *#ask(step: number, state: TurnState, signal: AbortSignal): AsyncGenerator<EventBody, DoneChunk, undefined> {
    const { client, request, call, runner } = this.#options;
    const messages = this.#history.messages;
    const asking = callModel(
      {
        ...call,
        client,
        request: { ...request, messages },
        turn: state.turn,
        step,
        clock: runner.context.clock,
        signal,
      },
      state.times,
    );
    for (;;) {
      const next = await asking.next();
      if (next.done) {
        yield this.#record(state, messageBody(state.turn, step, next.value));
        return next.value;
      }
      if (next.value.type === "retry") this.#addUsage(state, request.model, next.value.usage);
      yield next.value;
    }
  }

  /** Judges the message, runs its calls or ends them unrun. Sets `state.text` when it is the answer. */
  async *#runCalls(
    step: number,
    message: DoneChunk,
    state: TurnState,
    signal: AbortSignal,
  ): AsyncGenerator<EventBody, void, undefined> {
    const { limits, runner } = this.#options;
    const calls = message.content.filter((block): block is ToolUseBlock => block.type === "tool_use");
    state.stopReason = message.stopReason;
    if (calls.length === 0) {
      const verdict = judgeAnswer(message);
      if (verdict.kind === "continue") return checkBudget(this.#runUsage.tokens, limits);
      state.text = verdict.text;
      if (verdict.error) throw verdict.error;
      return;
    }
    const cut = message.stopReason === "max_tokens" && calls.every((block) => block.invalid_json !== undefined);
    state.cutInARow = cut ? state.cutInARow + 1 : 0;
    const stop = signal.aborted
      ? asError(signal.reason)
      : judgeCalls(message, { cutInARow: state.cutInARow, steps: state.steps, tokens: this.#runUsage.tokens, limits });
    const events = stop ? skipToolCalls(step, calls, stop.message) : runToolCalls(step, calls, runner, signal);
    for await (const body of events) yield this.#record(state, body);
    if (stop) throw stop;
    if (signal.aborted) throw signal.reason;
  }

  #record<Body extends EventBody>(state: TurnState, body: Body): Body {
    this.#history.apply(body);
    if (body.type === "message") this.#addUsage(state, body.model, body.usage);
    return body;
  }

  #addUsage(state: TurnState, model: string, usage: Usage | null): void {
    state.usage.add(model, usage);
    this.#runUsage.add(model, usage);
  }
}

function messageBody(turn: number, step: number, done: DoneChunk): EventBody {
  return {
    type: "message",
    turn,
    step,
    id: done.id,
    role: "assistant",
    model: done.model,
    content: done.content,
    stop_reason: done.stopReason,
    usage: done.usage,
    request_id: done.requestId,
  };
}

function asError(reason: unknown): AgentError {
  return reason instanceof AgentError ? reason : new AgentError("cancelled", "the run was ended");
}
