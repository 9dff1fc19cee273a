import type { ContentBlock, ToolUseBlock } from "../../protocol/content.ts";
import { isObject } from "../schema-check.ts";

type Kind = "text" | "thinking";

interface Block {
  kind: Kind | "whole";
  /** What was said of it so far. */
  pieces: string[];
  /** Half a surrogate pair that waits for its other half. */
  half: string;
  /** The block as the agent gives it in the end. */
  whole: ContentBlock | undefined;
}

/** A piece to be told as a delta. */
export interface Piece {
  kind: Kind;
  block: number;
  text: string;
}

/**
 * The blocks of a message that is being written. What comes in twice, as deltas and whole, goes out once: of a whole block
 * only what its deltas have not told.
 */
export class Blocks {
  readonly #blocks: Block[] = [];
  readonly #callIds = new Set<string>();
  #units = 0;
  #contradicts = false;

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** How much is kept, in UTF-16 units. */
  get units(): number {
    return this.#units;
  }

  /** Whether a whole block was something else than its deltas: they are out, and wrong. */
  get contradicts(): boolean {
    return this.#contradicts;
  }

  /** The next piece of a kind begins a block of its own. */
  open(kind: Kind): void {
    this.#add(kind, undefined);
  }

  /** The next piece of a text or of a thought. */
  write(kind: Kind, text: string): Piece | undefined {
    const last = this.#blocks.at(-1);
    if (last?.kind !== kind || last.whole) this.open(kind);
    return this.#tell(this.#blocks.length - 1, text);
  }

  /** Takes in a block as the agent gives it in the end. */
  whole(whole: ContentBlock): Piece | undefined {
    if (whole.type !== "text" && whole.type !== "thinking") {
      this.#add("whole", whole);
      if (whole.type === "tool_use") this.#callIds.add(whole.id);
      this.#units += JSON.stringify(whole).length;
      return undefined;
    }
    const kind = whole.type;
    let at = this.#blocks.findIndex((block) => block.kind === kind && !block.whole);
    if (at === -1) at = this.#add(kind, undefined);
    const block = this.#blocks[at];
    if (!block) return undefined;
    const text = whole.type === "text" ? whole.text : whole.thinking;
    const said = block.pieces.join("");
    block.whole = whole;
    if (!text.startsWith(said)) {
      this.#contradicts = true;
      return undefined;
    }
    const piece = this.#tell(at, text.slice(said.length), true);
    block.pieces = [];
    return piece;
  }

  /** Whether the message asks for a call already. */
  has(callId: string): boolean {
    return this.#callIds.has(callId);
  }

  /** What has not been told of blocks that have come to their end without being whole. */
  rest(): Piece[] {
    return this.#blocks.flatMap((block, at) => {
      const piece = block.whole ? undefined : this.#tell(at, "", true);
      return piece ? [piece] : [];
    });
  }

  content(): ContentBlock[] {
    return this.#blocks.map((block): ContentBlock => {
      if (block.whole) return block.whole;
      const text = block.pieces.join("");
      return block.kind === "thinking" ? { type: "thinking", thinking: text } : { type: "text", text };
    });
  }

  #add(kind: Block["kind"], whole: ContentBlock | undefined): number {
    return this.#blocks.push({ kind, pieces: [], half: "", whole }) - 1;
  }

  #tell(at: number, text: string, isLast = false): Piece | undefined {
    const block = this.#blocks[at];
    if (!block || block.kind === "whole") return undefined;
    block.pieces.push(text);
    this.#units += text.length;
    const all = block.half + text;
    const waits = !isLast && isHighHalf(all);
    block.half = waits ? all.slice(-1) : "";
    const ready = waits ? all.slice(0, -1) : all;
    return ready === "" ? undefined : { kind: block.kind, block: at, text: ready };
  }
}

function isHighHalf(text: string): boolean {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit < 0xdc00;
}

/** A call; without arguments it has none. */
export function callBlock(id: string, name: string, input: unknown): ToolUseBlock {
  return { type: "tool_use", id, name, input: input ?? {} };
}

/**
 * A block in the shape of Anthropic's Messages API, which several agents use; what is not known is kept as it is.
 */
export function messageBlock(raw: Readonly<Record<string, unknown>>): ContentBlock {
  const { type, text, thinking, signature, data, id, name, input } = raw;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "thinking" && typeof thinking === "string") {
    return { type, thinking, ...(typeof signature === "string" && signature !== "" ? { signature } : {}) };
  }
  if (type === "redacted_thinking" && typeof data === "string") return { type, data };
  if (type === "tool_use" && typeof id === "string" && typeof name === "string") {
    return callBlock(id, name, input);
  }
  return { type: "other", raw: isObject(raw) ? raw : {} };
}
