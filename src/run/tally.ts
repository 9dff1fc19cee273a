import type { TurnOutcome } from "../agent/agent.ts";
import { UsageTotal } from "../protocol/usage.ts";
import type { EventBody, EventBodyOf } from "../protocol/event.ts";
import type { ErrorInfo } from "../protocol/errors.ts";
import { exitCodeOf, statusOf } from "../protocol/exit-codes.ts";
import { OpenParts } from "../protocol/open-parts.ts";
import type { SignalName } from "../protocol/words.ts";

type Result = EventBodyOf<"result">;

export interface LastWords {
  durationMs: number;
  childrenLeft: Result["children_left"];
  signal: SignalName | null;
  failOnDenied: boolean;
}

/** What a run's last word says: a fold over everything that the run has said. */
export class Tally {
  readonly #usage = new UsageTotal();
  readonly #open = new OpenParts();
  readonly #inputs = new Map<string, unknown>();
  readonly #denials: Result["permission_denials"] = [];
  #turns = 0;
  #steps = 0;
  #calls = 0;
  #apiMs = 0;
  #error: ErrorInfo | null = null;
  #last: TurnOutcome | undefined;

  /** Calls that began to run. */
  get calls(): number {
    return this.#calls;
  }

  apply(body: EventBody): void {
    this.#open.apply(body);
    switch (body.type) {
      case "turn_start":
        this.#turns += 1;
        break;
      case "step_start":
        if (body.attempt === 1) this.#steps += 1;
        break;
      case "retry":
        this.#usage.add(this.#open.step?.model ?? "", body.usage);
        break;
      case "message":
        this.#usage.add(body.model, body.usage);
        this.#inputs.clear();
        for (const block of body.content)
          if (block.type === "tool_use") this.#inputs.set(block.id, block.input);
        break;
      case "tool_start":
        this.#calls += 1;
        break;
      case "tool_end":
        if (body.status === "denied") this.#deny(body);
        break;
      default:
        break;
    }
  }

  endTurn(outcome: TurnOutcome): void {
    this.#last = outcome;
    this.#apiMs += outcome.apiMs;
    if (outcome.error) this.fail(outcome.error);
  }

  /**
   * A turn or the run failed. The first failure is the run's, but for a signal: whoever ended the run is told that
   * he did, since the process ends by that signal, so that a shell's loop stops. Nor is a run that was lost anything else.
   */
  fail(error: ErrorInfo): void {
    if (!this.#error || error.code === "cancelled" || error.code === "lost_worker") this.#error = error;
  }

  /** The events that close what a failure left open. */
  closing(error: ErrorInfo): EventBody[] {
    return this.#open.close(error);
  }

  result({ durationMs, childrenLeft, signal, failOnDenied }: LastWords): Result {
    const denied = failOnDenied && this.#denials.length > 0 ? deniedError(this.#denials.length) : null;
    const error = this.#error ?? denied;
    const status = error ? statusOf(error.code) : "ok";
    return {
      type: "result",
      status,
      exit_code: exitCodeOf(status, error, signal),
      text: this.#last?.text ?? null,
      error,
      stop_reason: this.#last?.stopReason ?? null,
      turns: this.#turns,
      steps: this.#steps,
      usage: this.#usage.total,
      usage_by_model: this.#usage.byModel,
      duration_ms: Math.round(durationMs),
      api_duration_ms: Math.round(this.#apiMs),
      permission_denials: this.#denials,
      children_left: childrenLeft,
      signal: status === "cancelled" ? signal : null,
      synthetic: false,
    };
  }

  #deny(body: EventBodyOf<"tool_end">): void {
    this.#denials.push({
      tool_use_id: body.tool_use_id,
      name: body.name,
      input: this.#inputs.get(body.tool_use_id) ?? {},
      reason: typeof body.content === "string" ? body.content : "",
    });
  }
}

/** The result of a run that never began: a wrong command line, a signal before the first line. */
export function loneResult(error: ErrorInfo, signal: SignalName | null): Result {
  const tally = new Tally();
  tally.fail(error);
  return tally.result({ durationMs: 0, childrenLeft: [], signal, failOnDenied: false });
}

function deniedError(count: number): ErrorInfo {
  return {
    code: "denied",
    message: `${count} tool call(s) were denied (--fail-on-denied); see permission_denials`,
    http_status: null,
    retryable: false,
    provider: null,
    request_id: null,
  };
}
