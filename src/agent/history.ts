import type { Message, ToolResultBlock } from "../model/client.ts";
import type { PromptContent } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { EventBody } from "../protocol/event.ts";

type UserContent = Extract<Message, { role: "user" }>["content"];

/** What the model is told of a call that its run did not see the end of. */
const CUT_OFF = "The run was ended before this call was.";

/** What a provider says of a prompt that it will not take: with it no later request would be answered either. */
const UNANSWERABLE: readonly ErrorCode[] = ["invalid_request", "context_overflow", "refusal"];

/**
 * The conversation as the model gets it: a fold over the events. Only prompts, complete messages and the
 * ends of calls enter it; deltas never do. A prompt that the provider refused leaves it again.
 */
export class History {
  readonly #messages: Message[] = [];
  /** The prompt to which nothing has been answered. */
  #unanswered: Message | undefined;

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

  /**
   * A copy in which every call has its result and every result its call, wherever the log of a run lacks a line: a provider
   * takes no other history.
   */
  closed(): History {
    const copy = new History();
    let open: string[] = [];
    for (const message of this.#messages) {
      if (message.role === "assistant") {
        copy.#cutOff(open);
        copy.#messages.push(message);
        open = message.content.flatMap((block) => (block.type === "tool_use" ? block.id : []));
      } else {
        open = copy.#addAnswers(message.content, open);
      }
    }
    copy.#cutOff(open);
    return copy;
  }

  /** Adds what a user message holds, but for results of no call; returns the calls that are still without one. */
  #addAnswers(content: UserContent, open: readonly string[]): string[] {
    const kept = content.filter((block) => block.type !== "tool_result" || open.includes(block.tool_use_id));
    if (kept.length > 0) this.#messages.push({ role: "user", content: kept });
    const answered = kept.map((block) => (block.type === "tool_result" ? block.tool_use_id : ""));
    return open.filter((id) => !answered.includes(id));
  }

  #cutOff(calls: readonly string[]): void {
    for (const id of calls) {
      this.#addResult({ type: "tool_result", tool_use_id: id, content: CUT_OFF, is_error: true });
    }
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

  /** The results of one message's calls stand together in one user message. */
  #addResult(result: ToolResultBlock): void {
    const last = this.#messages.at(-1);
    if (last?.role === "user") last.content.push(result);
    else this.#messages.push({ role: "user", content: [result] });
  }
}
