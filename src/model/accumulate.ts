import type { ContentBlock, ToolUseBlock } from "../protocol/content.ts";
import type { StopReason } from "../protocol/words.ts";
import { ModelError } from "./client.ts";
import { wellFormed } from "./well-formed.ts";

/** The largest answer that is read, in UTF-16 units of content. */
export const MAX_ANSWER_SIZE = 32 * 1024 * 1024;

// Deeper arguments would overflow the stack of whatever walks them later (checks, encoding).
const MAX_INPUT_DEPTH = 500;

/** How a block begins. Text that the provider puts into the start goes through `append`. */
export type BlockStart =
  | { type: "text" }
  | { type: "thinking" }
  | { type: "redacted_thinking"; data: string }
  /** `input` counts only if no argument text follows. */
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "other"; raw: Record<string, unknown> };

/** So many small fragments are joined into one: a long answer would weigh many times its text otherwise. */
const COMPACT_FRAGMENTS = 2048;

interface Block {
  start: BlockStart;
  /** What has come, in order: fragments that were joined already, then those that were not. */
  joined: string[];
  fragments: string[];
  signature: string[];
  closed: ContentBlock | undefined;
  /** The whole text of a closed block; a tool call needs it if it turns out to be cut. */
  text: string;
}

/**
 * Collects the blocks of one message in linear time: fragments are joined once and a tool's
 * arguments parsed once, when the block closes. A block's index is its place in the final content.
 */
export class Accumulator {
  readonly #blocks: Block[] = [];
  #size = 0;

  /** Opens a block and returns its index. */
  open(start: BlockStart): number {
    this.#blocks.push({ start, joined: [], fragments: [], signature: [], closed: undefined, text: "" });
    return this.#blocks.length - 1;
  }

  /**
   * Adds to the text, the thinking or the argument text of an open block; else does nothing.
   * @throws {ModelError} `malformed_response` if the message grows beyond {@link MAX_ANSWER_SIZE}.
   */
  append(index: number, fragment: string): void {
    const block = this.#blocks[index];
    if (block === undefined || block.closed !== undefined) return;
    block.fragments.push(fragment);
    if (block.fragments.length === COMPACT_FRAGMENTS) {
      block.joined.push(block.fragments.join(""));
      block.fragments = [];
    }
    this.#size += fragment.length;
    if (this.#size > MAX_ANSWER_SIZE) {
      throw new ModelError("malformed_response", "the model's answer is longer than 32 MiB; it was given up");
    }
  }

  /**
   * Whether an open call's argument text is a whole object, or none at all: for servers that do not say where a call
   * ends. It costs a join and a parse where the text ends like an object, so ask only in doubt.
   */
  isWholeInput(index: number): boolean {
    const block = this.#blocks[index];
    if (block === undefined) return false;
    const last = block.fragments.findLast((fragment) => fragment.trim() !== "") ?? block.joined.at(-1) ?? "";
    if (last === "") return true;
    return (
      last.trimEnd().endsWith("}") &&
      parseObject([...block.joined, ...block.fragments].join("")) !== undefined
    );
  }

  /** Adds to the signature of an open thinking block. */
  sign(index: number, fragment: string): void {
    this.#blocks[index]?.signature.push(fragment);
  }

  /**
   * Closes a block. Returns the arguments if it is a tool call whose arguments came with its start
   * rather than as text, so that they can be shown as a delta.
   */
  close(index: number): string | undefined {
    const block = this.#blocks[index];
    if (block === undefined || block.closed !== undefined) return undefined;
    // In one go: what is put together of two is copied once more by whoever reads it.
    const written = [...block.joined, ...block.fragments].join("");
    const given = written.trim() === "" ? givenInput(block.start) : undefined;
    block.text = given ?? written;
    block.closed = build(block, block.text);
    block.joined = [];
    block.fragments = [];
    return given;
  }

  /**
   * The content of the message, which is complete with this. Blocks still open are closed. Where the
   * model was cut off by a limit, a tool call at the end may lack arguments even if they parse: it is
   * marked with `invalid_json`, so that it never runs.
   */
  finish(stopReason: StopReason | null): ContentBlock[] {
    const open = this.#blocks.map((block) => block.closed === undefined);
    open.forEach((isOpen, index) => isOpen && this.close(index));
    const limited = stopReason === "max_tokens" || stopReason === "model_context_window_exceeded";
    const last = this.#blocks.length - 1;
    return this.#blocks.flatMap(({ closed, text }, index) => {
      if (closed === undefined) return [];
      const cut = limited && (index === last || open[index] === true);
      return cut && closed.type === "tool_use" ? [unusable(closed, text)] : [closed];
    });
  }
}

/** A complete block; what is recorded of it is what is printed, hence without lone surrogates. */
function build(block: Block, text: string): ContentBlock {
  return wellFormed(asSent(block, text));
}

function asSent({ start, signature }: Block, text: string): ContentBlock {
  switch (start.type) {
    case "text":
      return { type: "text", text };
    case "thinking": {
      const signed = signature.join("");
      return signed === ""
        ? { type: "thinking", thinking: text }
        : { type: "thinking", thinking: text, signature: signed };
    }
    case "tool_use":
      return toolUse(start.id, start.name, text);
    case "redacted_thinking":
    case "other":
      return start;
    default:
      return start satisfies never;
  }
}

/** The arguments in the start of a tool call, as text; undefined if there are none. */
function givenInput(start: BlockStart): string | undefined {
  if (start.type !== "tool_use" || !isPlainObject(start.input)) return undefined;
  return Object.keys(start.input).length === 0 ? undefined : JSON.stringify(start.input);
}

function toolUse(id: string, name: string, text: string): ToolUseBlock {
  const call = { type: "tool_use", id, name } as const;
  const input = text.trim() === "" ? {} : parseObject(text);
  return input === undefined ? unusable({ ...call, input: {} }, text) : { ...call, input };
}

function unusable(call: ToolUseBlock, text: string): ToolUseBlock {
  return { ...call, input: {}, invalid_json: text };
}

/** The object that `text` holds, exactly as `JSON.parse` gives it; undefined if there is none. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) && !isDeeper(value, MAX_INPUT_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return limit === 0 || Object.values(value).some((item) => isDeeper(item, limit - 1));
}
