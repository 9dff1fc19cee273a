import type { Usage } from "../protocol/content.ts";
import type { StopReason } from "../protocol/words.ts";
import { piecesOf } from "./pieces.ts";

export interface AnswerOptions {
  /** The message's id; default `msg_1`, `msg_2` … The ids of its tool calls derive from it. */
  id?: string;
  model?: string;
  /** How many characters a delta carries; default 16. */
  deltaSize?: number;
  /** A ping is put in after so many deltas; default never. */
  pingEvery?: number;
  /** What the first event says of the input; default 10 input tokens. */
  inputUsage?: Partial<Usage>;
}

export interface AnswerEnd {
  /** Default `tool_use` if there is a tool call, else `end_turn`. */
  stopReason?: StopReason;
  /** What the last event says; default 5 output tokens. */
  usage?: Partial<Usage>;
}

/** One event of Anthropic's stream, as text. */
export function sseEvent(data: { type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

let answers = 0;

/**
 * Begins an answer as Anthropic's Messages API streams it:
 * `answer().thinking("Hm", "sig").text("Hello").toolUse("Bash", { command: "ls" }).done()`.
 */
export function answer(options: AnswerOptions = {}): AnthropicAnswer {
  answers += 1;
  return new AnthropicAnswer({
    id: `msg_${answers}`,
    model: "claude-test",
    deltaSize: 16,
    pingEvery: Infinity,
    ...options,
  });
}

/** Collects the events of one answer; made by {@link answer}. */
export class AnthropicAnswer {
  readonly #options: Required<Omit<AnswerOptions, "inputUsage">>;
  #events: string[] = [];
  #blocks = 0;
  #deltas = 0;
  #calls = 0;

  constructor(options: Required<Omit<AnswerOptions, "inputUsage">> & AnswerOptions) {
    this.#options = options;
    const { id, model, inputUsage } = options;
    const message = {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
    const usage = { input_tokens: 10, output_tokens: 1, ...inputUsage };
    this.event({ type: "message_start", message: { ...message, usage } });
  }

  /** A block of text. */
  text(text: string): this {
    return this.#block(
      { type: "text", text: "" },
      this.#pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    );
  }

  /** A block of thinking, with its signature. */
  thinking(thinking: string, signature = "signature"): this {
    const deltas = this.#pieces(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    const signed = { type: "signature_delta", signature };
    return this.#block({ type: "thinking", thinking: "", signature: "" }, [...deltas, signed]);
  }

  /** A tool call. `input` as text is sent as it is, be it JSON or not. */
  toolUse(name: string, input: object | string, id = this.#nextCallId()): this {
    const json = typeof input === "string" ? input : JSON.stringify(input);
    const deltas = this.#pieces(json).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    return this.#block({ type: "tool_use", id, name, input: {} }, deltas);
  }

  /** A whole block as the provider announces it, with the deltas that follow. */
  block(start: { type: string } & Record<string, unknown>, deltas: readonly object[] = []): this {
    return this.#block(start, deltas);
  }

  /** Any event. */
  event(data: { type: string } & Record<string, unknown>): this {
    return this.raw(sseEvent(data));
  }

  /** Text that goes into the stream as it is: comments, broken frames. */
  raw(text: string): this {
    this.#events.push(text);
    return this;
  }

  /** The stream so far, without an end: what a broken connection delivers. */
  unfinished(): string {
    return this.#events.join("");
  }

  /** The stream so far, ended by an error event. */
  error(type: string, message: string): string {
    return this.event({ type: "error", error: { type, message } }).unfinished();
  }

  /** The whole stream. */
  done({ stopReason, usage }: AnswerEnd = {}): string {
    const reason = stopReason ?? (this.#calls > 0 ? "tool_use" : "end_turn");
    this.event({
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: 5, ...usage },
    });
    return this.event({ type: "message_stop" }).unfinished();
  }

  #nextCallId(): string {
    return `${this.#options.id.replace(/^msg/, "toolu")}_${this.#calls + 1}`;
  }

  #block(start: { type: string } & Record<string, unknown>, deltas: readonly object[]): this {
    const index = this.#blocks;
    this.#blocks += 1;
    if (start.type === "tool_use") this.#calls += 1;
    this.event({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) {
      this.event({ type: "content_block_delta", index, delta });
      this.#deltas += 1;
      if (this.#deltas % this.#options.pingEvery === 0) this.event({ type: "ping" });
    }
    return this.event({ type: "content_block_stop", index });
  }

  #pieces(text: string): string[] {
    return piecesOf(text, this.#options.deltaSize);
  }
}
