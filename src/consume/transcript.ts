import type { Usage } from "../protocol/content.ts";
import type { EventOf, LinefeedEvent } from "../protocol/event.ts";
import type { ResultStatus } from "../protocol/words.ts";
import type { FaultKind, TranscriptFault } from "./faults.ts";
import { addToHistory, type HistoryMessage } from "./history.ts";
import type { InvalidLine } from "./invalid.ts";
import type { StreamItem } from "./item.ts";
import { readEvents, type ReadOptions } from "./reader.ts";
import { Sequence } from "./sequence.ts";
import type { EventSource } from "./source.ts";
import { Step } from "./step.ts";
import type { ToolCall } from "./tool-call.ts";
import { Turn } from "./turn.ts";
import { UsageLedger } from "./usage-ledger.ts";

/** `waiting` before the first line of a run; `broken_off` when the stream has ended without a `result`. */
export type TranscriptStatus = "waiting" | "running" | "broken_off" | ResultStatus;

/**
 * What a stream has told so far: text, thinking, calls, usage, status, history. A fold: feed it every item in order, look at
 * it at any time. Whatever it is fed, it throws nothing; what is wrong with the stream is in {@link faults}.
 *
 * Takes a session's whole log too, with one run after the other. Memory is in proportion to what was said.
 */
export class Transcript {
  readonly #faults: TranscriptFault[] = [];
  readonly #sequence = new Sequence((fault) => this.#report(fault.kind, fault.message, fault.seq));
  readonly #turns: Turn[] = [];
  readonly #history: HistoryMessage[] = [];
  readonly #calls = new Map<string, ToolCall>();
  readonly #usage = new UsageLedger();
  /** The turn to which the next step belongs. */
  #openTurn: Turn | undefined;
  #openStep: Step | undefined;
  #status: TranscriptStatus = "waiting";
  #init: EventOf<"init"> | null = null;
  #result: EventOf<"result"> | null = null;
  #session: EventOf<"session"> | null = null;

  /** Reads a source to its end. Throws what `readEvents` throws; a stream that is torn is no error but a fault. */
  static async from(source: EventSource, options?: ReadOptions): Promise<Transcript> {
    const transcript = new Transcript();
    for await (const item of readEvents(source, options)) transcript.apply(item);
    transcript.end();
    return transcript;
  }

  get status(): TranscriptStatus {
    return this.#status;
  }

  /** The session; null before the first line, and where there is none. */
  get sessionId(): string | null {
    return (this.#init ?? this.#result ?? this.#session)?.session_id ?? this.#sequence.sessionId ?? null;
  }

  /** The first line of the latest run. */
  get init(): EventOf<"init"> | null {
    return this.#init;
  }

  /** The last line of the latest run that has ended. */
  get result(): EventOf<"result"> | null {
    return this.#result;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** The latest turn. */
  get turn(): Turn | null {
    return this.#turns.at(-1) ?? null;
  }

  /** What the model has said so far in its latest call; in the end, the answer. */
  get text(): string {
    return this.turn?.text ?? "";
  }

  /** What the model has thought so far in its latest call. */
  get thinking(): string {
    return this.turn?.thinking ?? "";
  }

  /** All tool calls, in order. */
  get calls(): readonly ToolCall[] {
    return this.#turns.flatMap((turn) => turn.calls);
  }

  /** Tokens of all runs so far, failed attempts included; null if none were reported. */
  get usage(): Usage | null {
    return this.#usage.session.total;
  }

  get usageByModel(): Record<string, Usage> {
    return this.#usage.session.byModel;
  }

  /** The conversation: prompts, complete messages, results of calls. */
  get history(): readonly HistoryMessage[] {
    return this.#history;
  }

  /** What is wrong with the stream so far; empty for one that keeps every promise. */
  get faults(): readonly TranscriptFault[] {
    return this.#faults;
  }

  /** Takes in the next item. Returns whether it was new: a line whose `seq` was there before changes nothing. */
  apply(item: StreamItem): boolean {
    if (item.type === "invalid") return this.#applyInvalid(item);
    if (!this.#sequence.isNext(item.seq, item.session_id)) return false;
    if (item.type !== "unknown") this.#applyEvent(item);
    return true;
  }

  /** The stream is over: a run that has no `result` by now will have none. */
  end(): void {
    const isAnswer = this.#status === "waiting" && this.#session !== null;
    if (isAnswer || (this.#status !== "running" && this.#status !== "waiting")) return;
    const message =
      this.#status === "waiting" ? "the stream holds no run" : "the stream ends without a `result`";
    this.#status = "broken_off";
    this.#report("missing_result", message, this.#sequence.latest ?? null);
  }

  #applyInvalid(invalid: InvalidLine): boolean {
    const { seq, session_id } = invalid.raw ?? {};
    const known = typeof seq === "number" ? seq : null;
    const sessionId = typeof session_id === "string" ? session_id : null;
    if (known !== null && !this.#sequence.isNext(known, sessionId)) return false;
    this.#report("invalid_line", invalid.message, known);
    return true;
  }

  #applyEvent(event: LinefeedEvent): void {
    addToHistory(this.#history, event);
    if (this.#status === "waiting" && event.type !== "session") this.#status = "running";
    switch (event.type) {
      case "init":
        return this.#startRun(event);
      case "turn_start":
        this.#usage.startTurn();
        this.#startTurn(new Turn(event));
        return;
      case "step_start":
        return this.#startStep(event);
      case "text_delta":
        return this.#writable(event).write("text", event.block, event.text);
      case "thinking_delta":
        return this.#writable(event).write("thinking", event.block, event.text);
      case "tool_input_delta":
        return this.#know([this.#writable(event).writeInput(event)]);
      case "message":
        return this.#applyMessage(event);
      case "retry":
        return this.#applyRetry(event);
      case "tool_start":
        return this.#callOf(event).start(event);
      case "tool_output_delta":
        return this.#calls.get(event.tool_use_id)?.print(event);
      case "tool_end":
        return this.#callOf(event).finish(event);
      case "step_end":
        return this.#endStep(event);
      case "turn_end":
        return this.#endTurn(event);
      case "result":
        return this.#endRun(event);
      case "session":
        this.#session = event;
        return;
      case "notice":
      case "heartbeat":
        return;
      default:
        return event satisfies never;
    }
  }

  #startRun(event: EventOf<"init">): void {
    if (this.#init !== null && this.#status === "running") {
      this.#report("missing_result", "a run begins before the one before it has its `result`", event.seq);
    }
    this.#init = event;
    this.#status = "running";
    this.#usage.startRun(event.dialect !== undefined);
    this.#openTurn = undefined;
    this.#openStep = undefined;
  }

  #startTurn(turn: Turn): Turn {
    this.#turns.push(turn);
    this.#openTurn = turn;
    this.#openStep = undefined;
    return turn;
  }

  #startStep(event: EventOf<"step_start">): void {
    const open = this.#openStep;
    const isRetry = open?.step === event.step && open.status === "retrying";
    (isRetry ? open : this.#addStep(new Step(event.step, true))).begin(event);
  }

  #addStep(step: Step): Step {
    (this.#openTurn ?? this.#startTurn(new Turn(null))).addStep(step);
    this.#openStep = step;
    return step;
  }

  /** The step of an event. If its beginning was not seen, the stream began in its middle. */
  #stepOf(step: number): Step {
    return this.#openStep?.step === step ? this.#openStep : this.#addStep(new Step(step, false));
  }

  /** The step of a delta. */
  #writable(event: { step: number; seq: number }): Step {
    const step = this.#stepOf(event.step);
    if (step.message) this.#report("mismatch", "a delta comes after the `message` of its step", event.seq);
    return step;
  }

  #applyMessage(event: EventOf<"message">): void {
    const { calls, differences } = this.#stepOf(event.step).record(event);
    for (const difference of differences) this.#report("mismatch", difference, event.seq);
    this.#know(calls);
    this.#addUsage(event.model, event.usage);
  }

  #applyRetry(event: EventOf<"retry">): void {
    const step = this.#stepOf(event.step);
    this.#forget(step.retry(event));
    this.#addUsage(step.model, event.usage);
  }

  #addUsage(model: string | null, usage: Usage | null): void {
    this.#usage.add(model, usage);
    this.#openTurn?.addUsage(model, usage);
  }

  #endStep(event: EventOf<"step_end">): void {
    this.#forget(this.#stepOf(event.step).finish(event));
    this.#openStep = undefined;
  }

  #endTurn(event: EventOf<"turn_end">): void {
    if (this.#usage.turn.differsFrom(event.usage)) {
      this.#report("usage_mismatch", "the tokens of `turn_end` are not the sum over its lines", event.seq);
    }
    this.#usage.endTurn(event.usage);
    (this.#openTurn ?? this.#startTurn(new Turn(null))).finish(event);
    this.#openTurn = undefined;
    this.#openStep = undefined;
  }

  #endRun(event: EventOf<"result">): void {
    if (!event.synthetic && this.#usage.run.differsFrom(event.usage)) {
      this.#report("usage_mismatch", "the tokens of `result` are not the sum over its lines", event.seq);
    }
    this.#result = event;
    this.#status = event.status;
    this.#openTurn = undefined;
    this.#openStep = undefined;
  }

  /** The call of an event. If it was never asked for, the stream began behind the message. */
  #callOf(event: EventOf<"tool_start" | "tool_end">): ToolCall {
    const known = this.#calls.get(event.tool_use_id);
    if (known) return known;
    const call = this.#stepOf(event.step).addCall(event.tool_use_id, event.name);
    this.#calls.set(call.id, call);
    return call;
  }

  #know(calls: readonly ToolCall[]): void {
    for (const call of calls) this.#calls.set(call.id, call);
  }

  #forget(calls: readonly ToolCall[]): void {
    for (const { id } of calls) this.#calls.delete(id);
  }

  #report(kind: FaultKind, message: string, seq: number | null): void {
    if (LOSSES.has(kind)) {
      this.#usage.lose();
      this.#openStep?.lose();
    }
    this.#faults.push({ kind, message, seq });
  }
}

/** What may have taken tokens or deltas with it. */
const LOSSES: ReadonlySet<FaultKind> = new Set(["invalid_line", "gap", "out_of_order", "other_session"]);
