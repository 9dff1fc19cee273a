import type { Message, ToolResultBlock } from "../model/client.ts";
import type { EventBody } from "../protocol/event.ts";

/**
 * The conversation as the model gets it: a fold over the events. Only prompts, complete messages and the
 * ends of calls enter it; deltas never do.
 */
export class History {
  readonly #messages: Message[] = [];

  get messages(): readonly Message[] {
    return this.#messages;
  }

  apply(body: EventBody): void {
    if (body.type === "turn_start") {
      const content =
        typeof body.prompt === "string" ? [{ type: "text" as const, text: body.prompt }] : body.prompt;
      this.#messages.push({ role: "user", content: [...content] });
    } else if (body.type === "message" && body.content.length > 0) {
      this.#messages.push({ role: "assistant", content: body.content });
    } else if (body.type === "tool_end") {
      this.#addResult({
        type: "tool_result",
        tool_use_id: body.tool_use_id,
        content: body.content,
        is_error: body.is_error,
      });
    }
  }

  /** The results of one message's calls stand together in one user message. */
  #addResult(result: ToolResultBlock): void {
    const last = this.#messages.at(-1);
    if (last?.role === "user") last.content.push(result);
    else this.#messages.push({ role: "user", content: [result] });
  }
}
