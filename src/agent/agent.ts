import type { DoneChunk, ModelClient, ModelRequest } from "../model/client.ts";
import type { PromptContent, ToolUseBlock, Usage } from "../protocol/content.ts";
import type { EventBody } from "../protocol/event.ts";
import { AgentError, toErrorInfo, type ErrorInfo } from "../protocol/errors.ts";
import { statusOf } from "../protocol/exit-codes.ts";
import type { StepStatus, StopReason } from "../protocol/words.ts";
import { judgeAnswer, judgeCalls } from "./answer.ts";
import type { Conversation } from "./conversation.ts";
import { checkBudget, checkSteps, type Limits } from "./limits.ts";
import { linkAbort } from "./linked-abort.ts";
import { callModel, type Batch, type ModelCall, type ModelCallTimes } from "./model-call.ts";
import type { ToolRunner } from "./tool-calls.ts";
import { UsageTotal } from "../protocol/usage.ts";

export interface AgentOptions {
  client: ModelClient;
  /** What the requests of a turn have in common; asked for as the turn begins. */
  request: () => TurnRequest;
  runner: ToolRunner;
  /** What the session has come to so far; the agent carries it on. */
  conversation: Conversation;
  limits: Limits;
  call: Pick<ModelCall, "maxRetries" | "idleTimeoutMs" | "includeToolInput" | "random">;
}

/** A request but for the conversation. */
export type TurnRequest = Omit<ModelRequest, "messages">;

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
  request: TurnRequest;
  /** Ends the turn from outside, and from within. */
  controller: AbortController;
  steps: number;
  usage: UsageTotal;
  times: ModelCallTimes;
  stopReason: StopReason | null;
  text: string | null;
  /** Messages in a row that were cut at `--max-tokens` before any of their calls could run. */
  cutInARow: number;
}

/** What a step leaves to be done. */
interface StepEnd {
  turnIsOver: boolean;
  /** What was thrown or went wrong; null or undefined if nothing. */
  error?: unknown;
  /** Whether calls were ended without running. */
  callsSkipped?: boolean;
}

/** The value of a turn that nobody waits for. */
const LEFT_EARLY: TurnOutcome = { error: null, stopReason: null, text: null, apiMs: 0 };

/**
 * The loop: model → tools → model, until the model has answered. It knows no clock of its own, no
 * output and no line numbers; what it does, it says as event bodies.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #conversation: Conversation;
  readonly #runUsage = new UsageTotal();

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#conversation = options.conversation;
  }

  /**
   * Answers one prompt. Lazy: nothing happens until it is pulled, and only as far as it is pulled. When
   * `signal` aborts (its reason is an AgentError that says why), or the caller leaves early, the
   * running call is ended and nothing further begins. Every failure ends as a `turn_end`; it throws never.
   */
  async *runTurn(
    prompt: PromptContent,
    signal: AbortSignal,
  ): AsyncGenerator<EventBody, TurnOutcome, undefined> {
    const { controller, unlink } = linkAbort(signal);
    const turn = this.#turn(prompt, controller);
    try {
      for (;;) {
        const next = await turn.next();
        if (next.done) return next.value;
        for (const body of next.value) yield body;
      }
    } finally {
      await turn.return(LEFT_EARLY);
      unlink();
    }
  }

  /** A turn without a step, for what was to be a prompt and cannot be read: it ends with that error. */
  async *refuseTurn(reason: AgentError): AsyncGenerator<EventBody, TurnOutcome, undefined> {
    const turn = (this.#conversation.turns += 1);
    const error = toErrorInfo(reason);
    yield { type: "turn_start", turn, prompt: [] };
    yield {
      type: "turn_end",
      turn,
      status: statusOf(error.code),
      stop_reason: null,
      steps: 0,
      usage: null,
      duration_ms: 0,
      error,
    };
    return { error, stopReason: null, text: null, apiMs: 0 };
  }

  /** @throws AgentError `max_budget` if the run has used up its tokens, so that no further turn may begin. */
  checkBudget(): void {
    checkBudget(this.#runUsage, this.#options.limits);
  }

  async *#turn(
    prompt: PromptContent,
    controller: AbortController,
  ): AsyncGenerator<Batch, TurnOutcome, undefined> {
    const { clock } = this.#options.runner.context;
    const { signal } = controller;
    const begun = clock.now();
    const state: TurnState = {
      turn: (this.#conversation.turns += 1),
      request: this.#options.request(),
      controller,
      steps: 0,
      usage: new UsageTotal(),
      times: { apiMs: 0, ttftMs: null },
      stopReason: null,
      text: null,
      cutInARow: 0,
    };
    let error: ErrorInfo | null = null;
    yield [this.#record(state, { type: "turn_start", turn: state.turn, prompt })];
    try {
      let end: StepEnd = { turnIsOver: false };
      while (!end.turnIsOver) {
        if (signal.aborted) throw signal.reason;
        checkSteps(state.steps, this.#options.limits);
        end = yield* this.#step(state);
      }
      if (end.error) error = toErrorInfo(end.error);
    } catch (thrown) {
      error = toErrorInfo(thrown);
    }
    yield [
      this.#record(state, {
        type: "turn_end",
        turn: state.turn,
        status: error ? statusOf(error.code) : "ok",
        stop_reason: state.stopReason,
        steps: state.steps,
        usage: state.usage.total,
        duration_ms: Math.round(clock.now() - begun),
        error,
      }),
    ];
    return { error, stopReason: state.stopReason, text: state.text, apiMs: state.times.apiMs };
  }

  /** One model call and the tools that it asks for. */
  async *#step(state: TurnState): AsyncGenerator<Batch, StepEnd, undefined> {
    const { clock } = this.#options.runner.context;
    const { signal } = state.controller;
    const begun = clock.now();
    const step = (this.#conversation.steps += 1);
    state.steps += 1;
    state.stopReason = null;
    state.text = null;
    let end: StepEnd;
    let status: StepStatus;
    try {
      const message = yield* this.#ask(step, state);
      end = yield* this.#finish(step, message, state);
      // A message that will not do as an answer is the turn's matter; calls that were cut off are the step's.
      status = signal.aborted || end.callsSkipped ? "cancelled" : "ok";
    } catch (thrown) {
      end = { turnIsOver: true, error: thrown };
      status = signal.aborted ? "cancelled" : "error";
    }
    yield [
      {
        type: "step_end",
        turn: state.turn,
        step,
        status,
        stop_reason: state.stopReason,
        ttft_ms: state.times.ttftMs === null ? null : Math.round(state.times.ttftMs),
        duration_ms: Math.round(clock.now() - begun),
      },
    ];
    return end;
  }

  /** The model call; the complete message enters the history. */
  async *#ask(step: number, state: TurnState): AsyncGenerator<Batch, DoneChunk, undefined> {
    const { client, call, runner } = this.#options;
    const message = yield* callModel(
      {
        ...call,
        client,
        request: { ...state.request, messages: this.#conversation.history.messages },
        turn: state.turn,
        step,
        clock: runner.context.clock,
        signal: state.controller.signal,
        onVoided: (usage) => this.#addUsage(state, state.request.model, usage),
      },
      state.times,
    );
    yield [this.#record(state, messageBody(state.turn, step, message))];
    return message;
  }

  /** What follows from a complete message: its calls run, or are ended unrun, or it is the answer. */
  async *#finish(
    step: number,
    message: DoneChunk,
    state: TurnState,
  ): AsyncGenerator<Batch, StepEnd, undefined> {
    const { limits, runner } = this.#options;
    const { signal } = state.controller;
    const calls = message.content.filter((block): block is ToolUseBlock => block.type === "tool_use");
    state.stopReason = message.stopReason;
    if (calls.length === 0) {
      const verdict = judgeAnswer(message);
      if (verdict.kind === "answer") {
        state.text = verdict.text;
        return { turnIsOver: true, error: verdict.error };
      }
      checkBudget(this.#runUsage, limits);
      return { turnIsOver: false };
    }
    const cut =
      message.stopReason === "max_tokens" && calls.every((block) => block.invalid_json !== undefined);
    state.cutInARow = cut ? state.cutInARow + 1 : 0;
    const stop = signal.aborted
      ? asError(signal.reason)
      : judgeCalls(message, {
          cutInARow: state.cutInARow,
          steps: state.steps,
          usage: this.#runUsage,
          limits,
        });
    // Loaded when there are calls: the first request does not wait for it.
    const { runToolCalls, skipToolCalls } = await import("./tool-calls.ts");
    const events = stop
      ? skipToolCalls(step, calls, stop.message)
      : runToolCalls(step, calls, runner, state.controller);
    for await (const body of events) yield [this.#record(state, body)];
    if (stop) return { turnIsOver: true, error: stop, callsSkipped: true };
    return signal.aborted ? { turnIsOver: true, error: signal.reason } : { turnIsOver: false };
  }

  #record<Body extends EventBody>(state: TurnState, body: Body): Body {
    this.#conversation.history.apply(body);
    if (body.type === "message") this.#addUsage(state, body.model, body.usage);
    return body;
  }

  #addUsage(state: TurnState, model: string | null, usage: Usage | null): void {
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
