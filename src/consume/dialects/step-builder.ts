import type { ContentBlock, ToolUseBlock } from "../../protocol/content.ts";
import type { EventBody, EventBodyOf } from "../../protocol/event.ts";
import { callBlock } from "./blocks.ts";
import type { CallEnd, Denial } from "./calls.ts";
import type { OpenStep, RecordFacts, RetryFacts } from "./open-step.ts";

/** More than that of one message is not kept, in UTF-16 units: then its end will never come. */
const MESSAGE_UNITS = 32 * 1024 * 1024;
const NO_END: CallEnd = { status: "cancelled", content: "The stream does not say how this call ended." };

/** So many calls wait at most for those before them to end. */
const LATER_CALLS = 1000;

interface LaterCall {
  block: ToolUseBlock;
  end: CallEnd | undefined;
}

/**
 * Makes orderly steps out of what another agent tells: deltas before their message and once only, calls after it, their ends
 * in their order, all of them closed.
 */
export abstract class StepBuilder {
  readonly #tell: (body: EventBody) => void;
  #open: OpenStep | undefined;
  /** Calls that were asked for while those before them still ran. */
  #later = new Map<string, LaterCall>();
  /** Why calls were denied, by their ids. */
  readonly #reasons = new Map<string, string>();

  constructor(tell: (body: EventBody) => void) {
    this.#tell = tell;
  }

  /** Numbers the next step, in a turn and a run that are opened for it if need be. */
  protected abstract nextStep(): OpenStep;
  protected abstract recorded(message: EventBodyOf<"message">): void;
  protected abstract denied(denial: Denial): void;

  protected tell(bodies: readonly EventBody[]): void {
    for (const body of bodies) this.#tell(body);
  }

  /** The step that has begun and has not ended. */
  protected get openStep(): OpenStep | undefined {
    return this.#open;
  }

  /** Whether the model writes. */
  get isWriting(): boolean {
    return this.#open?.isWriting === true;
  }

  /** Whether it has written anything that has not become a message yet. */
  get hasWritten(): boolean {
    return this.#open?.blocks.isEmpty === false;
  }

  /** Whether calls of the latest message have no end yet. */
  get hasOpenCalls(): boolean {
    return this.#open?.calls?.allEnded === false;
  }

  /** A model call is being written: the open one, or else the next. */
  beginStep(): void {
    this.#writing();
  }

  text(text: string): void {
    this.#write("text", text);
  }

  thinking(text: string): void {
    this.#write("thinking", text);
  }

  /** The next piece of that kind is of a new block. */
  openBlock(kind: "text" | "thinking"): void {
    this.#writing().blocks.open(kind);
  }

  /** A block as a whole; what its deltas have told already is not told again. */
  block(block: ContentBlock): void {
    if (block.type === "tool_use" && this.#knows(block.id)) return;
    const step = this.#writing();
    const piece = step.blocks.whole(block);
    if (piece) this.tell([step.delta(piece)]);
    this.#limit(step);
  }

  /** Whether the message that is being written asks for a call. */
  asksFor(id: string): boolean {
    return this.#open?.blocks.has(id) === true;
  }

  /** A call of which the agent tells only when it begins. */
  call(id: string, name: string, input: unknown): void {
    const block = callBlock(id, name, input);
    if (this.#knows(id)) return;
    if (this.#later.size >= LATER_CALLS) this.endStep();
    if (this.hasOpenCalls) {
      this.#later.set(id, { block, end: undefined });
      return;
    }
    this.block(block);
    this.record();
    this.startCalls();
  }

  /** How long the model took to its first word, in ms. */
  firstContentAfter(ms: number | null): void {
    if (ms !== null) this.#open?.firstContentAfter(ms);
  }

  /** The model call is complete. Nothing where none is being written. */
  record(facts: RecordFacts = {}): void {
    const writing = this.#open;
    if (!writing?.isWriting) return;
    const step = writing.blocks.contradicts ? this.#again(writing) : this.#writing();
    for (const body of step.record(facts)) {
      this.tell([body]);
      if (body.type === "message") this.recorded(body);
    }
  }

  startCall(id: string): void {
    this.tell(this.#open?.calls?.start(id) ?? []);
  }

  /** All calls of the latest message begin. */
  startCalls(): void {
    for (const { id } of this.#open?.calls?.open ?? []) this.startCall(id);
  }

  /** Live output of a call. Returns whether it runs. */
  output(id: string, text: string): boolean {
    if (!this.#open?.calls?.isRunning(id)) return false;
    if (text !== "") this.tell([{ type: "tool_output_delta", tool_use_id: id, stream: "stdout", text }]);
    return true;
  }

  /** A call is denied; its end is still to come. Returns whether it is open. */
  deny(id: string, reason: string): boolean {
    if (!this.#knows(id)) return false;
    this.#reasons.set(id, reason);
    return true;
  }

  /** A call has ended. Returns whether it was open. */
  endCall(id: string, end: CallEnd): boolean {
    if (this.#open?.blocks.has(id)) {
      this.record();
      this.startCalls();
    }
    const later = this.#later.get(id);
    if (later) later.end ??= end;
    if (later) return true;
    if (!this.#open?.calls?.isOpen(id)) return false;
    this.#endOpenCall(id, end);
    this.#beginLater();
    return true;
  }

  /** The model call failed and is tried again. */
  retry(facts: RetryFacts): void {
    this.tell([this.#writing().retry(facts)]);
  }

  /** The step is over: calls that have not ended are closed with what is known of them. */
  endStep(durationMs: number | null = null, unknownEnd: CallEnd = NO_END): void {
    for (let ids = this.#openIds(); ids.length > 0; ids = this.#openIds()) {
      for (const id of ids) this.endCall(id, unknownEnd);
    }
    const step = this.#open;
    if (!step) return;
    this.#open = undefined;
    this.#reasons.clear();
    this.tell([step.end(step.isWriting ? "error" : "ok", durationMs)]);
  }

  #writing(): OpenStep {
    if (this.#open && !this.#open.isWriting) this.endStep();
    if (this.#open) {
      this.tell(this.#open.resume());
      return this.#open;
    }
    const step = this.nextStep();
    this.#open = step;
    this.tell([step.start()]);
    return step;
  }

  #write(kind: "text" | "thinking", text: string): void {
    if (text === "") return;
    const step = this.#writing();
    const piece = step.blocks.write(kind, text);
    if (piece) this.tell([step.delta(piece)]);
    this.#limit(step);
  }

  /** A message without end would fill the memory. */
  #limit(step: OpenStep): void {
    if (step.blocks.units > MESSAGE_UNITS) this.endStep();
  }

  #knows(id: string): boolean {
    const open = this.#open;
    if (open?.blocks.has(id) || open?.calls?.has(id)) return true;
    return this.#later.has(id);
  }

  #openIds(): string[] {
    return (this.#open?.calls?.open ?? []).map(({ id }) => id);
  }

  /** What was told of the message is not what it says: it does not count, and the message gets a step of its own. */
  #again(wrong: OpenStep): OpenStep {
    const content = wrong.blocks.content();
    this.endStep();
    const step = this.#writing();
    for (const block of content) {
      const piece = step.blocks.whole(block);
      if (piece) this.tell([step.delta(piece)]);
    }
    return step;
  }

  #endOpenCall(id: string, end: CallEnd): void {
    const calls = this.#open?.calls;
    const isDenied = this.#reasons.has(id);
    for (const body of calls?.end(id, isDenied ? { ...end, status: "denied" } : end) ?? []) {
      this.tell([body]);
      if (body.type !== "tool_end" || body.status !== "denied") continue;
      const { tool_use_id, name, content } = body;
      const told = this.#reasons.get(tool_use_id) ?? (typeof content === "string" ? content : "");
      this.denied({ tool_use_id, name, input: calls?.inputOf(tool_use_id), reason: told });
    }
  }

  /** Calls that had to wait make the next step; some of them may have ended meanwhile. */
  #beginLater(): void {
    if (this.hasOpenCalls || this.#later.size === 0) return;
    const later = [...this.#later.values()];
    this.#later = new Map();
    for (const { block } of later) this.block(block);
    this.record();
    this.startCalls();
    for (const { block, end } of later) if (end) this.endCall(block.id, end);
  }
}
