import { piecesOf } from "./pieces.ts";

/** How a server of this dialect writes what it streams. */
export interface ChatAnswerOptions {
  /** The message's id; default `chatcmpl-1`, `chatcmpl-2` … The ids of its tool calls derive from it. */
  id?: string;
  model?: string;
  /** How many characters a delta carries; default 16. */
  deltaSize?: number;
  /** The field that thinking comes in; default `reasoning_content`. */
  reasoningField?: string;
}

export interface ChatAnswerEnd {
  /** Default `tool_calls` if there is a tool call, else `stop`. */
  finishReason?: string | null;
  /** What a chunk of its own says of tokens; default 10 in and 5 out; null: nothing. */
  usage?: Record<string, unknown> | null;
  /** Whether `[DONE]` follows; default true. */
  endMark?: boolean;
}

/** A piece of a tool call, as it stands in `delta.tool_calls`. */
export interface CallFragment {
  index?: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: unknown };
}

/** One chunk of Chat Completions' stream, as text. */
export function chatChunk(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

let answers = 0;

/**
 * Begins an answer as OpenAI's Chat Completions stream it:
 * `chatAnswer().thinking("Hm").text("Hello").toolCall("Bash", { command: "ls" }).done()`.
 */
export function chatAnswer(options: ChatAnswerOptions = {}): ChatAnswer {
  answers += 1;
  return new ChatAnswer({
    id: `chatcmpl-${answers}`,
    model: "gpt-test",
    deltaSize: 16,
    reasoningField: "reasoning_content",
    ...options,
  });
}

/** Collects the chunks of one answer; made by {@link chatAnswer}. */
export class ChatAnswer {
  readonly #options: Required<ChatAnswerOptions>;
  #chunks: string[] = [];
  #calls = 0;

  constructor(options: Required<ChatAnswerOptions>) {
    this.#options = options;
    this.delta({ role: "assistant", content: "" });
  }

  text(text: string): this {
    for (const piece of this.#pieces(text)) this.delta({ content: piece });
    return this;
  }

  thinking(thinking: string): this {
    for (const piece of this.#pieces(thinking)) this.delta({ [this.#options.reasoningField]: piece });
    return this;
  }

  /** A tool call by the book. `input` as text is sent as it is, be it JSON or not. */
  toolCall(name: string, input: object | string, id = `call_${this.#options.id}_${this.#calls + 1}`): this {
    const json = typeof input === "string" ? input : JSON.stringify(input);
    const index = this.#calls;
    this.calls({ index, id, type: "function", function: { name, arguments: "" } });
    for (const piece of this.#pieces(json)) this.calls({ index, function: { arguments: piece } });
    this.#calls = index + 1;
    return this;
  }

  /** One chunk with any fragments of calls. */
  calls(...fragments: CallFragment[]): this {
    this.#calls = Math.max(this.#calls, 1);
    return this.delta({ tool_calls: fragments });
  }

  /** One chunk with any delta, and what stands beside it. */
  delta(delta: object, finishReason: string | null = null, more: object = {}): this {
    return this.chunk({ choices: [{ index: 0, delta, finish_reason: finishReason }], ...more });
  }

  /** Any chunk; id, model and the like are added to it. */
  chunk(chunk: object): this {
    const { id, model } = this.#options;
    return this.raw(
      chatChunk({ id, object: "chat.completion.chunk", created: 1_764_500_000, model, ...chunk }),
    );
  }

  /** Text that goes into the stream as it is: comments, broken frames. */
  raw(text: string): this {
    this.#chunks.push(text);
    return this;
  }

  /** The stream so far, without an end: what a broken connection delivers. */
  unfinished(): string {
    return this.#chunks.join("");
  }

  /** The stream so far, ended by an error object as OpenAI sends it. */
  error(error: object): string {
    return this.raw(chatChunk({ error })).unfinished();
  }

  /** The whole stream. */
  done({ finishReason, usage = {}, endMark = true }: ChatAnswerEnd = {}): string {
    const reason = finishReason === undefined ? (this.#calls > 0 ? "tool_calls" : "stop") : finishReason;
    this.delta({}, reason);
    if (usage !== null) {
      this.chunk({
        choices: [],
        usage: { prompt_tokens: 10, completion_tokens: 5, ...usage },
      });
    }
    return endMark ? this.raw("data: [DONE]\n\n").unfinished() : this.unfinished();
  }

  #pieces(text: string): string[] {
    return piecesOf(text, this.#options.deltaSize);
  }
}
