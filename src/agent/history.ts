import type { Message, ToolResultBlock } from "../model/client.ts";
import type { EventBody } from "../protocol/event.ts";

/** What the model is told of a call that its run did not see the end of. */
const CUT_OFF = "The run was ended before this call was.";

/**
 * The conversation as the model gets it: a fold over the events. Only prompts, complete messages and the
 * ends of calls enter it; deltas never do.
 */
export class History {
  readonly #messages: Message[];

  constructor(messages: readonly Message[] = []) {
    this.#messages = messages.map((message) =>
      message.role === "user" ? { role: "user", content: [...message.content] } : message,
    );
  }

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

  /** A copy in which every call has a result; a provider takes no history with open calls. */
  closed(): History {
    const copy = new History(this.#messages);
    for (const id of this.#openCalls()) {
      copy.#addResult({ type: "tool_result", tool_use_id: id, content: CUT_OFF, is_error: true });
    }
    return copy;
  }

  /** Only the last message's calls can be open. */
  #openCalls(): string[] {
    const at = this.#messages.findLastIndex(({ role }) => role === "assistant");
    const message = this.#messages[at];
    if (message?.role !== "assistant") return [];
    const answered = new Set<string>();
    for (const { role, content } of this.#messages.slice(at + 1)) {
      if (role !== "user") continue;
      for (const block of content) if (block.type === "tool_result") answered.add(block.tool_use_id);
    }
    return message.content.flatMap((block) =>
      block.type === "tool_use" && !answered.has(block.id) ? block.id : [],
    );
  }

  /** The results of one message's calls stand together in one user message. */
  #addResult(result: ToolResultBlock): void {
    const last = this.#messages.at(-1);
    if (last?.role === "user") last.content.push(result);
    else this.#messages.push({ role: "user", content: [result] });
  }
}
