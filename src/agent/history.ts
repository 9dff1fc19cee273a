import type { Message, ToolResultBlock } from "../model/client.ts";
import type { PromptContent } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { EventBody } from "../protocol/event.ts";

/** What the model is told of a call that its run did not see the end of. */
const CUT_OFF = "The run was ended before this call was.";

/** What a provider says of a prompt that it will not take: with it no later request would be answered either. */
const UNANSWERABLE: readonly ErrorCode[] = ["invalid_request", "context_overflow", "refusal"];

/**
 * The conversation as the model gets it: a fold over the events. Only prompts, complete messages and the
 * ends of calls enter it; deltas never do. A prompt that the provider refused leaves it again.
 */
export class History {
  readonly #messages: Message[];
  /** The prompt to which nothing has been answered. */
  #unanswered: Message | undefined;

  constructor(messages: readonly Message[] = []) {
    this.#messages = messages.map((message) =>
      message.role === "user" ? { role: "user", content: [...message.content] } : message,
    );
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  apply(body: EventBody): void {
    switch (body.type) {
      case "turn_start":
        return this.#addPrompt(body.prompt);
      case "message":
        this.#unanswered = undefined;
        if (body.content.length > 0) this.#messages.push({ role: "assistant", content: body.content });
        return;
      case "tool_end":
        return this.#addResult({
          type: "tool_result",
          tool_use_id: body.tool_use_id,
          content: body.content,
          is_error: body.is_error,
        });
      case "turn_end":
        if (body.error && UNANSWERABLE.includes(body.error.code)) this.#dropUnanswered();
        return;
      default:
        return;
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

  #addPrompt(prompt: PromptContent): void {
    const content = typeof prompt === "string" ? [{ type: "text" as const, text: prompt }] : [...prompt];
    this.#unanswered = undefined;
    if (content.length === 0) return;
    this.#unanswered = { role: "user", content };
    this.#messages.push(this.#unanswered);
  }

  #dropUnanswered(): void {
    if (this.#unanswered && this.#messages.at(-1) === this.#unanswered) this.#messages.pop();
    this.#unanswered = undefined;
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
