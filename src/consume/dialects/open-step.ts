import type { Usage } from "../../protocol/content.ts";
import type { ErrorInfo } from "../../protocol/errors.ts";
import type { EventBody } from "../../protocol/event.ts";
import type { StepStatus, StopReason } from "../../protocol/words.ts";
import { Blocks, type Piece } from "./blocks.ts";
import { Calls } from "./calls.ts";

/** What an agent tells of a model call that is complete. */
export interface RecordFacts {
  id?: string | null | undefined;
  model?: string | null | undefined;
  stopReason?: StopReason | null | undefined;
  usage?: Usage | null | undefined;
  requestId?: string | null | undefined;
}

/** What an agent tells of a model call that failed and is tried again. */
export interface RetryFacts {
  maxAttempts: number | null;
  delayMs: number | null;
  error: ErrorInfo;
}

/** A step that has begun and has not ended: first it is written, then recorded, then its calls run. */
export class OpenStep {
  readonly turn: number;
  readonly step: number;
  readonly #model: string | null;
  #blocks = new Blocks();
  #attempt = 1;
  #calls: Calls | undefined;
  #stopReason: StopReason | null = null;
  #ttftMs: number | null = null;
  /** After a `retry` nothing may come before the next attempt has begun. */
  #isRetrying = false;

  constructor(turn: number, step: number, model: string | null) {
    this.turn = turn;
    this.step = step;
    this.#model = model;
  }

  /** The calls of the message; undefined until it is complete. */
  get calls(): Calls | undefined {
    return this.#calls;
  }

  get blocks(): Blocks {
    return this.#blocks;
  }

  get isWriting(): boolean {
    return this.#calls === undefined;
  }

  start(): EventBody {
    const { turn, step } = this;
    return { type: "step_start", turn, step, attempt: this.#attempt, model: this.#model };
  }

  /** The beginning of the next attempt, where one is due. */
  resume(): EventBody[] {
    if (!this.#isRetrying) return [];
    this.#isRetrying = false;
    this.#attempt += 1;
    return [this.start()];
  }

  firstContentAfter(ms: number): void {
    this.#ttftMs ??= ms;
  }

  delta({ kind, block, text }: Piece): EventBody {
    return { type: kind === "text" ? "text_delta" : "thinking_delta", step: this.step, block, text };
  }

  /** The message is complete. */
  record(facts: RecordFacts): EventBody[] {
    const rest = this.#blocks.rest().map((piece) => this.delta(piece));
    const content = this.#blocks.content();
    this.#stopReason = facts.stopReason ?? null;
    this.#calls = new Calls(
      this.step,
      content.filter((block) => block.type === "tool_use"),
    );
    this.#blocks = new Blocks();
    return [
      ...rest,
      {
        type: "message",
        turn: this.turn,
        step: this.step,
        id: facts.id ?? null,
        role: "assistant",
        model: facts.model ?? this.#model,
        content,
        stop_reason: this.#stopReason,
        usage: facts.usage ?? null,
        request_id: facts.requestId ?? null,
      },
    ];
  }

  retry({ maxAttempts, delayMs, error }: RetryFacts): EventBody {
    const discards_partial = !this.#blocks.isEmpty;
    this.#blocks = new Blocks();
    this.#isRetrying = true;
    return {
      type: "retry",
      step: this.step,
      attempt: this.#attempt,
      max_attempts: maxAttempts,
      delay_ms: delayMs,
      error,
      discards_partial,
      usage: null,
    };
  }

  end(status: StepStatus, durationMs: number | null): EventBody {
    return {
      type: "step_end",
      turn: this.turn,
      step: this.step,
      status,
      stop_reason: this.#stopReason,
      ttft_ms: this.#ttftMs,
      duration_ms: durationMs,
    };
  }
}
