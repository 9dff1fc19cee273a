import type { Usage } from "../../protocol/content.ts";
import { STOP_REASONS, type NoticeCode, type StopReason } from "../../protocol/words.ts";
import { Accumulator } from "../accumulate.ts";
import type { DoneChunk, ModelChunk } from "../client.ts";
import type { ErrorContext } from "../endpoint.ts";
import { excerpt } from "../http.ts";
import type { AnswerDecoder } from "../http-call.ts";
import { unreadableFrame } from "../http-errors.ts";
import { isRecord, parseJson, record, string, type Json } from "../json.ts";
import type { SseFrame } from "../sse.ts";
import { streamError } from "./errors.ts";
import { mergeUsage } from "./usage.ts";

/** A block that the provider has announced, by what its deltas need. */
interface OpenBlock {
  index: number;
  type: "text" | "thinking" | "redacted_thinking" | "tool_use" | "other";
  id: string;
  name: string;
}

/**
 * Anthropic's stream events → chunks, one event at a time.
 *
 * Tolerant where the rest of a turn can be kept: what is unknown or misplaced is skipped with one
 * notice a kind. Strict where silence would turn half an answer into a whole one.
 */
export class AnthropicDecoder implements AnswerDecoder {
  readonly #context: ErrorContext;
  readonly #accumulator = new Accumulator();
  /** By the provider's own index, which may have gaps. */
  readonly #blocks = new Map<unknown, OpenBlock>();
  readonly #noticed = new Set<string>();
  #id = "";
  #model: string;
  #stopReason: StopReason | null = null;
  #usage: Usage | null = null;

  constructor(context: ErrorContext) {
    this.#context = context;
    this.#model = context.model;
  }

  get usage(): Usage | null {
    return this.#usage;
  }

  read(frame: SseFrame, requestId: string | null, chunks: ModelChunk[]): void {
    const chunk = this.#chunk(frame, requestId);
    if (chunk !== undefined) chunks.push(chunk);
  }

  /** The chunk that an event makes, if it makes one. */
  #chunk(frame: SseFrame, requestId: string | null): ModelChunk | undefined {
    const event = parseJson(frame.data);
    if (event === undefined) return this.#unreadable(frame);
    if (!isRecord(event))
      return this.#skip("malformed_provider_frame", "an event that is no object", frame.data);
    switch (event["type"]) {
      case "content_block_delta":
        return this.#delta(event);
      case "content_block_start":
        return this.#start(event);
      case "content_block_stop":
        return this.#stop(event);
      case "message_start":
        return this.#messageStart(record(event["message"]));
      case "message_delta":
        return this.#messageDelta(event);
      case "message_stop":
        return this.#done(requestId);
      case "ping":
        return undefined;
      case "error":
        throw streamError(event, this.#context);
      default:
        if (frame.event === "error" || isRecord(event["error"])) throw streamError(event, this.#context);
        return this.#skip("unknown_provider_event", "an unknown event", string(event["type"]));
    }
  }

  #delta(event: Json): ModelChunk | undefined {
    const block = this.#blocks.get(event["index"]);
    const delta = event["delta"];
    if (!isRecord(delta)) return this.#skip("malformed_provider_frame", "a delta without content", "");
    if (block === undefined) {
      return this.#skip(
        "malformed_provider_frame",
        "a delta for a block that is not open",
        String(event["index"]),
      );
    }
    // Blocks of unknown types are kept as they were announced; their start was noticed.
    if (block.type === "other") return undefined;
    switch (delta["type"]) {
      case "text_delta":
        if (block.type === "text") return this.#append(block, string(delta["text"]));
        break;
      case "thinking_delta":
        if (block.type === "thinking") return this.#append(block, string(delta["thinking"]));
        break;
      case "input_json_delta":
        if (block.type === "tool_use") return this.#append(block, string(delta["partial_json"]));
        break;
      case "signature_delta":
        if (block.type === "thinking") this.#accumulator.sign(block.index, string(delta["signature"]));
        return undefined;
      default:
    }
    const what = `an unknown delta for a ${block.type} block`;
    return this.#skip("unknown_provider_event", what, string(delta["type"]));
  }

  #append(block: OpenBlock, piece: string): ModelChunk | undefined {
    if (piece === "") return undefined;
    this.#accumulator.append(block.index, piece);
    return deltaChunk(block, piece);
  }

  #start(event: Json): ModelChunk | undefined {
    const raw = event["content_block"];
    if (!isRecord(raw)) return this.#skip("malformed_provider_frame", "a block without content", "");
    const block = this.#open(raw);
    this.#blocks.set(event["index"], block);
    if (block.type === "other")
      return this.#skip("unknown_provider_event", "an unknown kind of block", string(raw["type"]));
    if (block.type === "thinking") this.#accumulator.sign(block.index, string(raw["signature"]));
    if (block.type === "thinking") return this.#append(block, string(raw["thinking"]));
    return block.type === "text" ? this.#append(block, string(raw["text"])) : undefined;
  }

  #open(raw: Json): OpenBlock {
    const id = string(raw["id"]);
    const name = string(raw["name"]);
    const accumulator = this.#accumulator;
    switch (raw["type"]) {
      case "text":
        return { index: accumulator.open({ type: "text" }), type: "text", id, name };
      case "thinking":
        return { index: accumulator.open({ type: "thinking" }), type: "thinking", id, name };
      case "redacted_thinking": {
        const index = accumulator.open({ type: "redacted_thinking", data: string(raw["data"]) });
        return { index, type: "redacted_thinking", id, name };
      }
      case "tool_use":
        return {
          index: accumulator.open({ type: "tool_use", id, name, input: raw["input"] }),
          type: "tool_use",
          id,
          name,
        };
      default:
        return { index: accumulator.open({ type: "other", raw }), type: "other", id, name };
    }
  }

  #stop(event: Json): ModelChunk | undefined {
    const block = this.#blocks.get(event["index"]);
    if (block === undefined) return undefined;
    this.#blocks.delete(event["index"]);
    const input = this.#accumulator.close(block.index);
    return input === undefined ? undefined : deltaChunk(block, input);
  }

  #messageStart(message: Json): undefined {
    this.#id = string(message["id"]);
    this.#model = string(message["model"]) || this.#model;
    this.#usage = mergeUsage(this.#usage, record(message["usage"]));
  }

  #messageDelta(event: Json): ModelChunk | undefined {
    this.#usage = mergeUsage(this.#usage, record(event["usage"]));
    const word = record(event["delta"])["stop_reason"];
    if (typeof word !== "string") return undefined;
    const reason = STOP_REASONS.find((known) => known === word);
    this.#stopReason = reason ?? this.#stopReason;
    return reason ? undefined : this.#skip("unknown_provider_event", "an unknown stop reason", word);
  }

  #done(requestId: string | null): DoneChunk {
    return {
      type: "done",
      id: this.#id,
      model: this.#model,
      content: this.#accumulator.finish(this.#stopReason),
      stopReason: this.#stopReason,
      usage: this.#usage,
      requestId,
    };
  }

  #unreadable(frame: SseFrame): undefined {
    const data = frame.data.trim();
    // A frame that the end of the stream cut: the stream is broken, which is judged elsewhere.
    // `[DONE]` is OpenAI's end mark, which some gateways append to every stream.
    if (data === "" || frame.unterminated || /^\[done\]$/i.test(data)) return undefined;
    if (frame.event === "error")
      throw streamError({ error: excerpt(this.#context.redact(data)) }, this.#context);
    throw unreadableFrame(data, injected(data), this.#context);
  }

  #skip(code: NoticeCode, what: string, detail: string): ModelChunk | undefined {
    if (this.#noticed.has(what)) return undefined;
    this.#noticed.add(what);
    const shown = excerpt(this.#context.redact(detail), 80);
    return {
      type: "notice",
      code,
      message: `the provider sent ${what}${shown === "" ? "" : ` (${shown})`}; it was skipped`,
    };
  }
}

function deltaChunk(block: OpenBlock, piece: string): ModelChunk {
  if (block.type === "tool_use") {
    return {
      type: "tool_input",
      block: block.index,
      toolUseId: block.id,
      name: block.name,
      partialJson: piece,
    };
  }
  return { type: block.type === "thinking" ? "thinking" : "text", block: block.index, text: piece };
}

/** A gateway that fails in the middle of an event puts its error object into the same event. */
function injected(data: string): string {
  const tail = data.slice(data.indexOf("\n") + 1);
  const error = data.includes("\n") ? record(record(parseJson(tail))["error"]) : {};
  return string(error["message"]);
}
