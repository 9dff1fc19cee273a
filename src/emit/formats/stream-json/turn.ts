import type { LinefeedEvent, EventOf } from "../../../protocol/event.ts";
import type { ErrorInfo } from "../../../protocol/errors.ts";
import type { Usage } from "../../../protocol/content.ts";
import { answerOf } from "../text.ts";
import { isAnswer, subtypeOf } from "./failures.ts";
import type { Line } from "./lines.ts";
import { usageOf, type ModelUsage } from "./usage.ts";

/** How a turn ended, in our words. */
export type TurnEnd = Pick<EventOf<"turn_end">, "error" | "stop_reason" | "steps" | "duration_ms"> & {
  usage: Usage | null;
};

/** What the `result` of a turn says beyond its end: a fold over the turn's events. */
export class Turn {
  readonly #inputs = new Map<string, unknown>();
  readonly #denials: object[] = [];
  #answer = "";
  #apiMs = 0;
  /** When the model call that is under way began, in ms. */
  #asking: number | undefined;
  #steps = 0;
  readonly #begun: number;

  /** @param ts when it began. */
  constructor(ts: string) {
    this.#begun = Date.parse(ts);
  }

  apply(event: LinefeedEvent): void {
    switch (event.type) {
      case "step_start":
        this.#answer = "";
        this.#asking = Date.parse(event.ts);
        if (event.attempt === 1) this.#steps += 1;
        break;
      case "retry":
      case "step_end":
        this.#answered(event.ts);
        break;
      case "message":
        this.#answered(event.ts);
        this.#answer = answerOf(event);
        for (const block of event.content)
          if (block.type === "tool_use") this.#inputs.set(block.id, block.input);
        break;
      case "tool_end":
        if (event.status === "denied") this.#denials.push(this.#denial(event));
        break;
      default:
        break;
    }
  }

  /** The `result` line, but for its ids. */
  result(end: TurnEnd, modelUsage: ModelUsage): Line {
    return {
      type: "result",
      ...outcomeOf(end, this.#answer),
      duration_ms: end.duration_ms ?? 0,
      duration_api_ms: this.#apiMs,
      num_turns: end.steps,
      stop_reason: end.stop_reason,
      // linefeed knows no prices.
      total_cost_usd: 0,
      usage: { ...usageOf(end.usage), server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 } },
      modelUsage: modelUsage.asRecord(),
      permission_denials: this.#denials,
    };
  }

  /** The end of a turn that has none of its own, since its writer has died. */
  lostEnd(ts: string, error: ErrorInfo | null): TurnEnd {
    const duration_ms = Math.max(0, Date.parse(ts) - this.#begun);
    return { error, stop_reason: null, steps: this.#steps, duration_ms, usage: null };
  }

  #answered(ts: string): void {
    if (this.#asking !== undefined) this.#apiMs += Math.max(0, Date.parse(ts) - this.#asking);
    this.#asking = undefined;
  }

  #denial({ name, tool_use_id }: EventOf<"tool_end">): object {
    return { tool_name: name, tool_use_id, tool_input: this.#inputs.get(tool_use_id) ?? {} };
  }
}

/** The fields that say whether it went well, in the order in which people read them. */
function outcomeOf({ error, steps }: TurnEnd, answer: string): object {
  if (!error) return { subtype: "success", is_error: false, result: answer };
  const subtype = subtypeOf(error, steps > 0);
  if (!isAnswer(error, steps > 0)) return { subtype, is_error: true, errors: [error.message] };
  return { subtype, is_error: true, api_error_status: error.http_status, result: error.message };
}
