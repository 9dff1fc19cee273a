import type { ContentBlock, Usage } from "../../protocol/content.ts";
import { messageBlock } from "./blocks.ts";
import { summaryOf } from "./calls.ts";
import type { Handler } from "./dialect.ts";
import { failure } from "./failure.ts";
import { countOf, needObject, objectOf, objectsOf, textOf, wordOf, type Fields } from "./fields.ts";
import { reported, stopReasonOf, usageOf } from "./messages-api.ts";
import type { RecordFacts } from "./open-step.ts";
import type { RunBuilder } from "./run-builder.ts";

/** Of a sub-agent's text so much is shown as output of its call, in UTF-16 units a block. */
const SHOWN_UNITS = 2000;

/**
 * The model calls of an agent that prints Anthropic's messages, block by block, and their stream events before them, if it is
 * asked for them.
 */
export class MessagesReader {
  readonly #isSplit: boolean;
  /** What is known of the message that is being written. */
  #facts: RecordFacts = {};
  /** Its tokens as they were when it began. */
  #startUsage: Usage | null = null;
  #lastText = "";
  /** Whether a block of it has come whole. */
  #isWhole = false;

  /** @param messages how many of the agent's messages make one model call. */
  constructor(messages: "one message a call" | "one kind of block a message") {
    this.#isSplit = messages === "one kind of block a message";
  }

  /** The latest text block that came whole in the message that is being written. */
  get lastText(): string {
    return this.#lastText;
  }

  /** Whether the tokens of that message are known, which those of a failed call are not. */
  get hasUsage(): boolean {
    return (this.#facts.usage ?? null) !== null;
  }

  /** A stream event of the model. */
  readonly streamEvent: Handler = (line, run) => {
    const event = needObject(line, "event");
    // A sub-agent's words come once more, whole.
    if (wordOf(line, "parent_tool_use_id") !== null) return;
    switch (event["type"]) {
      case "message_start":
        this.#start(objectOf(event, "message"), countOf(line, "ttft_ms"), run);
        return;
      case "content_block_start":
        this.#openBlock(objectOf(event, "content_block"), run);
        return;
      case "content_block_delta":
        this.#delta(objectOf(event, "delta"), run);
        return;
      case "message_delta":
        this.#learn(objectOf(event, "delta"), objectOf(event, "usage"));
        return;
      case "message_stop":
        // One that has not come whole is no message yet, and may never be: the call may be tried again.
        if (this.#isWhole) this.complete(run);
        return;
      case "error":
        run.notice(`stream_event: ${textOf(objectOf(event, "error"), "message") ?? "error"}`, "warning");
        return;
      default:
        return;
    }
  };

  /** A message, or a block of it. */
  assistant(message: Fields, run: RunBuilder, requestId: string | null): void {
    const id = wordOf(message, "id");
    const known = this.#facts.id ?? null;
    const isAnother = known !== null && id !== null && id !== known;
    if (isAnother && !this.#isSplit) this.complete(run);
    const stopReason = stopReasonOf(message);
    const isFinal = stopReason !== null || this.#isSplit;
    this.#facts.id ??= id;
    this.#facts.model ??= wordOf(message, "model");
    this.#facts.requestId ??= requestId;
    if (stopReason !== null) this.#facts.stopReason = stopReason;
    // Before the end of a message its usage is not final.
    if (isFinal) this.#facts.usage = reported(usageOf(objectOf(message, "usage"))) ?? this.#facts.usage;
    this.#isWhole = true;
    for (const raw of objectsOf(message, "content")) {
      const block = messageBlock(raw);
      if (block.type === "text") this.#lastText = block.text;
      run.block(block);
    }
  }

  /**
   * What a sub-agent says, or what its calls gave, as live output of the call that it works for: only its words are shown.
   * Returns whether that call runs.
   */
  subAgent(parent: string, words: string, run: RunBuilder): boolean {
    if (run.asksFor(parent)) this.complete(run);
    return run.output(parent, words);
  }

  /** The model call has failed: nothing of it is a message. */
  drop(): void {
    this.#facts = {};
    this.#startUsage = null;
    this.#lastText = "";
    this.#isWhole = false;
  }

  /** The message is complete, and its calls begin. */
  complete(run: RunBuilder): void {
    const facts = this.#facts;
    this.drop();
    if (!run.isWriting) return;
    // A call that failed before its first word has no message.
    if (!run.hasWritten && !facts.stopReason) return run.endStep();
    run.record(facts);
    run.startCalls();
  }

  #start(message: Fields | undefined, ttftMs: number | null, run: RunBuilder): void {
    // Without an end of the one before, that one was given up: what it said is void.
    if (run.isWriting && run.hasWritten) {
      const error = failure("the model's stream broke off", { code: "stream_interrupted" });
      run.retry({ maxAttempts: null, delayMs: null, error });
    }
    this.drop();
    this.#facts = { id: wordOf(message, "id") };
    this.#startUsage = usageOf(objectOf(message, "usage"));
    const model = wordOf(message, "model");
    if (model !== null) this.#facts.model = model;
    run.beginStep();
    run.firstContentAfter(ttftMs);
  }

  #openBlock(block: Fields | undefined, run: RunBuilder): void {
    const type = block?.["type"];
    if (type !== "text" && type !== "thinking") return;
    run.openBlock(type);
    this.#write(type, textOf(block, type) ?? "", run);
  }

  #delta(delta: Fields | undefined, run: RunBuilder): void {
    const type = delta?.["type"];
    if (type === "text_delta") this.#write("text", textOf(delta, "text") ?? "", run);
    if (type === "thinking_delta") this.#write("thinking", textOf(delta, "thinking") ?? "", run);
  }

  #write(kind: "text" | "thinking", text: string, run: RunBuilder): void {
    if (kind === "text") run.text(text);
    else run.thinking(text);
  }

  /** The end of a message tells why, and how many tokens it took in all. */
  #learn(delta: Fields | undefined, usage: Fields | undefined): void {
    this.#facts.stopReason = stopReasonOf(delta) ?? this.#facts.stopReason;
    if (usage) this.#facts.usage = usageOf({ ...this.#startUsage, ...usage });
  }
}

/** What a sub-agent says, as live output of the call that it works for. */
export function subAgentWords(message: Fields): string {
  const words = objectsOf(message, "content").map((block) => wordsOfBlock(messageBlock(block)));
  return words.join("");
}

function wordsOfBlock(block: ContentBlock): string {
  if (block.type === "tool_use") return `${block.name} ${summaryOf(block.input)}\n`;
  return block.type === "text" && block.text !== "" ? `${block.text.slice(0, SHOWN_UNITS)}\n` : "";
}
