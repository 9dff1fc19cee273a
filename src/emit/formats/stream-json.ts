import type { EventOf, LinefeedEvent } from "../../protocol/event.ts";
import type { Format } from "./format.ts";
import { isAnswer } from "./stream-json/failures.ts";
import { encodeFitting } from "./stream-json/fit.ts";
import { lineIds } from "./stream-json/line-ids.ts";
import * as lines from "./stream-json/lines.ts";
import { MessageStream } from "./stream-json/partials.ts";
import { Turn, type TurnEnd } from "./stream-json/turn.ts";
import { ModelUsage } from "./stream-json/usage.ts";

export type { TurnSettings } from "./stream-json/lines.ts";

export interface StreamJsonOptions {
  /** Read as each turn begins, so whoever changes them changes the object. */
  settings: Readonly<lines.TurnSettings>;
  /** Whether what the model writes is shown while it writes. */
  partials: boolean;
  /** The most tokens that one answer may have; said of each model. */
  maxTokens?: number | undefined;
}

type Line = lines.Line;

/** Of an answer, in tokens, where nobody says. */
const MAX_TOKENS = 32_000;

/**
 * Claude-style stream-json, which the Agent SDKs and many other programs read: docs/stream-json.md has what each event becomes.
 * What is no translation of an event (answers to control requests, replayed prompts) is not here.
 */
export function streamJsonFormat(options: StreamJsonOptions): Format {
  return new StreamJson(options);
}

class StreamJson implements Format {
  readonly #options: StreamJsonOptions;
  readonly #stream = new MessageStream();
  #init: EventOf<"init"> | undefined;
  #turn: Turn | undefined;
  #model = "";
  #usage: ModelUsage;
  /** Whether a turn of this run has begun. */
  #hasTurns = false;
  /** The errors that a `result` of this run has told. */
  #told = new Set<string>();
  #lastIsError = false;

  constructor(options: StreamJsonOptions) {
    this.#options = options;
    this.#usage = this.#newUsage();
  }

  /** 1 if the last `result` is an error, else 0, whatever the turns before it. */
  exitCode(): number {
    return this.#lastIsError ? 1 : 0;
  }

  event(event: LinefeedEvent): string | undefined {
    const newId = lineIds(event);
    const added = this.#linesOf(event, () => `msg_${newId().replaceAll("-", "")}`);
    const session_id = event.session_id ?? "";
    return added.map((line) => encodeFitting({ ...line, session_id, uuid: newId() })).join("");
  }

  #linesOf(event: LinefeedEvent, newMessageId: () => string): Line[] {
    this.#turn?.apply(event);
    switch (event.type) {
      case "init":
        this.#begin(event);
        return [];
      case "turn_start":
        this.#turn = new Turn(event.ts);
        this.#hasTurns = true;
        return this.#init ? [lines.firstOfTurn(this.#init, this.#options.settings)] : [];
      case "step_start":
        this.#model = event.model ?? "";
        this.#stream.begin(event);
        return [];
      case "text_delta":
      case "thinking_delta":
      case "tool_input_delta":
        return this.#options.partials ? this.#stream.delta(event, newMessageId).map(lines.stream) : [];
      case "message":
        this.#usage.add(event.model ?? "", event.usage);
        return this.#message(event, newMessageId);
      case "tool_end":
        return [lines.toolResult(event)];
      case "retry":
        this.#usage.add(this.#model, event.usage);
        return [...this.#abandon(), lines.retry(event)];
      case "step_end":
        return this.#abandon();
      case "turn_end":
        return this.#ended(this.#turn ?? new Turn(event.ts), event, newMessageId);
      case "result":
        return this.#endRun(event, newMessageId);
      case "session":
        return [{ ...event }];
      case "tool_start":
      case "tool_output_delta":
      case "notice":
      case "heartbeat":
        return [];
      default:
        return event satisfies never;
    }
  }

  #begin(init: EventOf<"init">): void {
    this.#init = init;
    this.#usage = this.#newUsage();
    this.#hasTurns = false;
    this.#told = new Set();
  }

  #newUsage(): ModelUsage {
    return new ModelUsage(this.#options.maxTokens ?? MAX_TOKENS);
  }

  #message(event: EventOf<"message">, newMessageId: () => string): Line[] {
    if (!this.#options.partials) return [lines.assistant(event, event.id ?? newMessageId())];
    const { id, before, behind } = this.#stream.end(event, newMessageId);
    return [...before.map(lines.stream), lines.assistant(event, id), ...behind.map(lines.stream)];
  }

  #abandon(): Line[] {
    return this.#stream.abandon().map(lines.stream);
  }

  /** A turn that was left open, or what went wrong outside of all turns, has its `result` too. */
  #endRun({ error, ts, duration_ms }: EventOf<"result">, newMessageId: () => string): Line[] {
    if (this.#turn) {
      const end = this.#turn.lostEnd(ts, error);
      return [...this.#abandon(), ...this.#ended(this.#turn, end, newMessageId)];
    }
    if (!error || this.#told.has(error.message)) return [];
    // Whoever ends a run between two turns knows it, and has had the result of each.
    if (this.#hasTurns && (error.code === "cancelled" || error.code === "reader_closed")) return [];
    const end = { error, stop_reason: null, steps: 0, duration_ms, usage: null };
    return this.#ended(new Turn(ts), end, newMessageId);
  }

  #ended(turn: Turn, end: TurnEnd, newMessageId: () => string): Line[] {
    const { error } = end;
    this.#turn = undefined;
    this.#lastIsError = error !== null;
    if (error) this.#told.add(error.message);
    const result = turn.result(end, this.#usage);
    return error && isAnswer(error, end.steps > 0)
      ? [lines.failedAnswer(error, newMessageId()), result]
      : [result];
  }
}
