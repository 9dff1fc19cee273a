import type { EventBody, EventBodyOf } from "./event.ts";
import type { ErrorInfo } from "./errors.ts";
import { statusOf } from "./exit-codes.ts";
import { UsageTotal } from "./usage.ts";

/**
 * What is open at a point of a stream (calls, step, turn), and the events that close it: a run that was
 * torn off in the middle is brought to an orderly end with them.
 */
export class OpenParts {
  #turn: { turn: number; steps: number; usage: UsageTotal } | undefined;
  #step: EventBodyOf<"step_start"> | undefined;
  #calls: { id: string; name: string }[] = [];

  /** The latest step that began and has not ended. */
  get step(): EventBodyOf<"step_start"> | undefined {
    return this.#step;
  }

  apply(body: EventBody): void {
    switch (body.type) {
      case "turn_start":
        this.#turn = { turn: body.turn, steps: 0, usage: new UsageTotal() };
        break;
      case "step_start":
        this.#step = body;
        this.#calls = [];
        if (this.#turn && body.attempt === 1) this.#turn.steps += 1;
        break;
      case "retry":
        this.#turn?.usage.add(this.#step?.model ?? "", body.usage);
        break;
      case "message":
        this.#turn?.usage.add(body.model, body.usage);
        this.#calls = body.content.flatMap((block) =>
          block.type === "tool_use" ? [{ id: block.id, name: block.name }] : [],
        );
        break;
      case "tool_end":
        this.#calls = this.#calls.filter((call) => call.id !== body.tool_use_id);
        break;
      case "step_end":
        this.#step = undefined;
        break;
      case "turn_end":
        this.#turn = undefined;
        break;
      default:
        break;
    }
  }

  /** The events that close what is open, because of `error`. */
  close(error: ErrorInfo): EventBody[] {
    return [...this.#closeStep(error), ...this.#closeTurn(error)];
  }

  #closeStep(error: ErrorInfo): EventBody[] {
    if (!this.#step) return [];
    const { turn, step } = this.#step;
    const ends = this.#calls.map((call): EventBody => ({
      type: "tool_end",
      step,
      tool_use_id: call.id,
      name: call.name,
      status: "cancelled",
      is_error: true,
      content: `The call was ended with the run: ${error.message}`,
      duration_ms: 0,
      exit_code: null,
      truncated: false,
    }));
    return [
      ...ends,
      { type: "step_end", turn, step, status: "cancelled", stop_reason: null, ttft_ms: null, duration_ms: 0 },
    ];
  }

  #closeTurn(error: ErrorInfo): EventBody[] {
    if (!this.#turn) return [];
    const { turn, steps, usage } = this.#turn;
    return [
      {
        type: "turn_end",
        turn,
        status: statusOf(error.code),
        stop_reason: null,
        steps,
        usage: usage.total,
        duration_ms: 0,
        error,
      },
    ];
  }
}
