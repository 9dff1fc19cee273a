import type { ContentBlock, InputBlock } from "../protocol/content.ts";
import type { LinefeedEvent } from "../protocol/event.ts";

export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content: string | InputBlock[];
  is_error: boolean;
}

/** One message of a conversation, whatever the provider. */
export type HistoryMessage =
  | { role: "user"; content: (InputBlock | ToolResultBlock)[] }
  | { role: "assistant"; content: ContentBlock[] };

/**
 * The conversation: prompts, what the model said, what its calls gave. Adds what an event adds; only complete messages count,
 * so that nothing of a failed step is in it.
 */
export function addToHistory(messages: HistoryMessage[], event: LinefeedEvent): void {
  if (event.type === "turn_start") {
    const { prompt } = event;
    messages.push({
      role: "user",
      content: typeof prompt === "string" ? [{ type: "text", text: prompt }] : [...prompt],
    });
  } else if (event.type === "message" && event.content.length > 0) {
    messages.push({ role: "assistant", content: event.content });
  } else if (event.type === "tool_end") {
    const { tool_use_id, content, is_error } = event;
    const result: ToolResultBlock = { type: "tool_result", tool_use_id, content, is_error };
    const last = messages.at(-1);
    // The results of one message's calls stand together.
    if (last?.role === "user") last.content.push(result);
    else messages.push({ role: "user", content: [result] });
  }
}
