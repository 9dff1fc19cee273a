import type { ContentBlock } from "../../protocol/content.ts";
import type { Accumulator } from "../accumulate.ts";
import type { DeltaChunk } from "../client.ts";
import type { ScriptBlock } from "./script.ts";

/** What of a block is streamed. */
export function textOf(block: ScriptBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "tool_use":
      return block.input_json ?? JSON.stringify(block.input ?? {});
    case "redacted_thinking":
    case "other":
      return "";
    default:
      return block satisfies never;
  }
}

/** Opens the block; `id` is that of a tool call. Returns its index. */
export function openBlock(blocks: Accumulator, block: ScriptBlock, id: string): number {
  switch (block.type) {
    case "tool_use":
      return blocks.open({ type: "tool_use", id, name: block.name, input: {} });
    case "redacted_thinking":
    case "other":
      return blocks.open(block);
    case "text":
    case "thinking":
      return blocks.open({ type: block.type });
    default:
      return block satisfies never;
  }
}

/** A piece of a block that is streamed. */
export function chunkOf(block: ScriptBlock, index: number, text: string, id: string): DeltaChunk {
  switch (block.type) {
    case "tool_use":
      return { type: "tool_input", block: index, toolUseId: id, name: block.name, partialJson: text };
    case "thinking":
      return { type: "thinking", block: index, text };
    case "text":
    case "redacted_thinking":
    case "other":
      return { type: "text", block: index, text };
    default:
      return block satisfies never;
  }
}

/** The finished blocks, with those calls marked that the script says were cut. */
export function withCuts(finished: ContentBlock[], content: readonly ScriptBlock[]): ContentBlock[] {
  return finished.map((block, index) => {
    const written = content[index];
    if (block.type !== "tool_use" || written?.type !== "tool_use" || !written.cut) return block;
    return { ...block, input: {}, invalid_json: block.invalid_json ?? textOf(written).toWellFormed() };
  });
}
