import type { PromptContent, Usage } from "../protocol/content.ts";
import type { EventOf } from "../protocol/event.ts";
import { UsageTotal } from "../protocol/usage.ts";
import type { TurnStatus } from "../protocol/words.ts";
import type { Step } from "./step.ts";
import type { ToolCall } from "./tool-call.ts";

/** One user prompt and all that follows. */
export class Turn {
  /** Counted from 1 through the session; null where the stream begins in the middle of a turn. */
  readonly turn: number | null;
  /** Null where the stream begins in the middle of a turn. */
  readonly prompt: PromptContent | null;
  readonly #steps: Step[] = [];
  readonly #usage = new UsageTotal();
  #end: EventOf<"turn_end"> | null = null;

  constructor(start: EventOf<"turn_start"> | null) {
    this.turn = start?.turn ?? null;
    this.prompt = start?.prompt ?? null;
  }

  get status(): "running" | TurnStatus {
    return this.#end?.status ?? "running";
  }

  /** The last event of the turn, with its error if it failed; null before it. */
  get end(): EventOf<"turn_end"> | null {
    return this.#end;
  }

  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** What the latest model call has said so far; in the end, the answer. */
  get text(): string {
    return this.#steps.at(-1)?.text ?? "";
  }

  /** What the model has thought so far in the latest call. */
  get thinking(): string {
    return this.#steps.at(-1)?.thinking ?? "";
  }

  /** All calls of the turn, in order. */
  get calls(): readonly ToolCall[] {
    return this.#steps.flatMap((step) => step.calls);
  }

  /** Tokens so far, failed attempts included; null if none were reported. */
  get usage(): Usage | null {
    return this.#usage.total ?? this.#end?.usage ?? null;
  }

  /** @internal */
  addStep(step: Step): void {
    this.#steps.push(step);
  }

  /** @internal */
  addUsage(model: string | null, usage: Usage | null): void {
    this.#usage.add(model, usage);
  }

  /** @internal */
  finish(event: EventOf<"turn_end">): void {
    this.#end = event;
  }
}
