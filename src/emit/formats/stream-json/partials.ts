import type { ContentBlock } from "../../../protocol/content.ts";
import type { EventOf } from "../../../protocol/event.ts";
import { usageOf } from "./usage.ts";

/** An event of Anthropic's stream of a message. */
export type RawEvent = { type: string; [key: string]: unknown };

export type ModelDelta = EventOf<"text_delta"> | EventOf<"thinking_delta"> | EventOf<"tool_input_delta">;

/** A delta has no more UTF-16 code units, so that its line stays short whatever has to be escaped. */
const PIECE_UNITS = 100_000;

interface OpenBlock {
  type: "text" | "thinking" | "tool_use";
  /** Its index in `message.content`. */
  block: number;
  /** Its index in the stream of events: blocks are counted as they begin. */
  index: number;
  isOpen: boolean;
}

interface OpenMessage {
  id: string;
  blocks: OpenBlock[];
}

/** What a whole message adds to the stream: before its `assistant` line, and behind it. */
export interface MessageEnd {
  /** The id that it was announced with. */
  id: string;
  before: RawEvent[];
  behind: RawEvent[];
}

/**
 * Makes the events of Anthropic's stream out of ours. Every message that begins is ended, also one that is void; a block that was
 * written without deltas gets one. The deltas of a block joined are its text.
 */
export class MessageStream {
  #message: OpenMessage | undefined;
  #model = "";

  begin(step: EventOf<"step_start">): void {
    this.#model = step.model ?? "";
  }

  /** @param newId for the message, if it begins with this: its provider's is known only at its end. */
  delta(event: ModelDelta, newId: () => string): RawEvent[] {
    const { events, message } = this.#open(newId);
    let block = message.blocks.findLast((one) => one.isOpen && one.block === event.block);
    if (!block) {
      events.push(...closeAll(message, (one) => one.type !== "tool_use"));
      block = openBlock(message, event.block, typeOf(event));
      events.push(startOf(block, event.type === "tool_input_delta" ? callOf(event) : {}));
    }
    const text = event.type === "tool_input_delta" ? event.partial_json : event.text;
    return [...events, ...deltasOf(block, text)];
  }

  /** The message is whole. */
  end(message: EventOf<"message">, newId: () => string): MessageEnd {
    const { events: before, message: open } = this.#open(newId);
    for (const [index, block] of message.content.entries()) {
      const written = open.blocks.find((one) => one.block === index);
      if (!written) before.push(...wholeBlock(open, index, block));
      else if (written.isOpen) before.push(...signatureOf(written, block));
    }
    this.#message = undefined;
    return { id: open.id, before, behind: endOf(open, message.stop_reason, usageOf(message.usage)) };
  }

  /** What was written so far is void, or was cut off. */
  abandon(): RawEvent[] {
    const message = this.#message;
    this.#message = undefined;
    return message ? endOf(message, null, usageOf(null)) : [];
  }

  #open(newId: () => string): { events: RawEvent[]; message: OpenMessage } {
    if (this.#message) return { events: [], message: this.#message };
    const message = (this.#message = { id: newId(), blocks: [] });
    const start = {
      id: message.id,
      type: "message",
      role: "assistant",
      model: this.#model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(null),
    };
    return { events: [{ type: "message_start", message: start }], message };
  }
}

function endOf(message: OpenMessage, stopReason: string | null, usage: object): RawEvent[] {
  return [
    ...closeAll(message, () => true),
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

function openBlock(message: OpenMessage, block: number, type: OpenBlock["type"]): OpenBlock {
  const opened = { type, block, index: message.blocks.length, isOpen: true };
  message.blocks.push(opened);
  return opened;
}

function closeAll(message: OpenMessage, which: (block: OpenBlock) => boolean): RawEvent[] {
  const closing = message.blocks.filter((block) => block.isOpen && which(block));
  for (const block of closing) block.isOpen = false;
  return closing.map(({ index }) => ({ type: "content_block_stop", index }));
}

/** A block of which no delta has been seen. */
function wholeBlock(message: OpenMessage, at: number, block: ContentBlock): RawEvent[] {
  switch (block.type) {
    case "text":
    case "thinking": {
      const opened = openBlock(message, at, block.type);
      const text = block.type === "text" ? block.text : block.thinking;
      return [startOf(opened, {}), ...deltasOf(opened, text), ...signatureOf(opened, block)];
    }
    case "tool_use": {
      const opened = openBlock(message, at, block.type);
      const json = block.invalid_json ?? JSON.stringify(block.input);
      return [startOf(opened, { id: block.id, name: block.name }), ...deltasOf(opened, json)];
    }
    case "redacted_thinking":
      return unknownBlock(message, at, block);
    case "other":
      return typeof block.raw["type"] === "string" ? unknownBlock(message, at, block.raw) : [];
    default:
      return block satisfies never;
  }
}

/** It comes with its beginning, as the provider sends it. */
function unknownBlock(message: OpenMessage, at: number, content: object): RawEvent[] {
  // Only its place is of interest, and that it is open.
  const { index } = openBlock(message, at, "text");
  return [{ type: "content_block_start", index, content_block: content }];
}

function startOf({ index, type }: OpenBlock, call: object): RawEvent {
  const empty = {
    text: { type, text: "" },
    thinking: { type, thinking: "", signature: "" },
    tool_use: { type, ...call, input: {} },
  };
  return { type: "content_block_start", index, content_block: empty[type] };
}

function deltasOf({ index, type }: OpenBlock, text: string): RawEvent[] {
  return piecesOf(text).map((piece) => {
    const delta = {
      text: { type: "text_delta", text: piece },
      thinking: { type: "thinking_delta", thinking: piece },
      tool_use: { type: "input_json_delta", partial_json: piece },
    };
    return { type: "content_block_delta", index, delta: delta[type] };
  });
}

function signatureOf({ index }: OpenBlock, block: ContentBlock): RawEvent[] {
  if (block.type !== "thinking" || block.signature === undefined) return [];
  const delta = { type: "signature_delta", signature: block.signature };
  return [{ type: "content_block_delta", index, delta }];
}

/** Never cuts a surrogate pair; of an empty text there is none. */
function piecesOf(text: string): string[] {
  if (text.length <= PIECE_UNITS) return text === "" ? [] : [text];
  const pieces: string[] = [];
  for (let begin = 0; begin < text.length;) {
    let end = begin + PIECE_UNITS;
    const isHighHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    if (isHighHalf) end -= 1;
    pieces.push(text.slice(begin, end));
    begin = end;
  }
  return pieces;
}

function typeOf(event: ModelDelta): OpenBlock["type"] {
  switch (event.type) {
    case "text_delta":
      return "text";
    case "thinking_delta":
      return "thinking";
    case "tool_input_delta":
      return "tool_use";
    default:
      return event satisfies never;
  }
}

function callOf({ tool_use_id, name }: EventOf<"tool_input_delta">): object {
  return { id: tool_use_id, name };
}
