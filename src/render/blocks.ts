import type { EventOf } from "../protocol/event.ts";
import type { ContentBlock } from "../protocol/content.ts";

/** The deltas of one attempt at a step: how much of each block is printed already. */
export class StreamedBlocks {
  readonly #units = new Map<number, number>();

  /** Whether anything was printed. */
  get any(): boolean {
    return this.#units.size > 0;
  }

  clear(): void {
    this.#units.clear();
  }

  add({ block, text }: EventOf<"text_delta"> | EventOf<"thinking_delta">): void {
    this.#units.set(block, (this.#units.get(block) ?? 0) + text.length);
  }

  /** What of a complete block is still to be printed: all of it where there were no deltas. */
  rest(index: number, block: ContentBlock): { kind: "text" | "thinking"; text: string } | undefined {
    const printed = this.#units.get(index) ?? 0;
    switch (block.type) {
      case "text":
        return { kind: "text", text: block.text.slice(printed) };
      case "thinking":
        return { kind: "thinking", text: block.thinking.slice(printed) };
      case "redacted_thinking":
        return { kind: "thinking", text: "(thinking that the provider keeps to itself)" };
      case "tool_use":
      case "other":
        return undefined;
      default:
        return block satisfies never;
    }
  }
}
