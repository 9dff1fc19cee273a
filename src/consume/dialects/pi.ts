import type { ErrorInfo } from "../../protocol/errors.ts";
import type { Dialect, Handler } from "./dialect.ts";
import { failure } from "./failure.ts";
import { countOf, needObject, needText, objectOf, textOf, wordOf, type Fields } from "./fields.ts";
import { OutputSoFar } from "./output-so-far.ts";
import {
  blocksOf,
  callFailure,
  contentOf,
  endOf,
  failureOf,
  recordFacts,
  textOfContent,
} from "./pi-messages.ts";
import type { RunBuilder, RunFacts } from "./run-builder.ts";

/** States that say nothing about the conversation. */
const NOTHING = [
  "agent_start",
  "bash_execution_update",
  "entry_appended",
  "queue_update",
  "session_info_changed",
  "summarization_retry_attempt_start",
  "summarization_retry_finished",
  "thinking_level_changed",
  "turn_start",
];

/**
 * pi, `--mode json`: up to 0.73 each update repeats the message so far, later ones tell only what is new; that is in both. A
 * turn of pi is a step of ours. Up to 0.73 the last line is no sure end: then the end of the stream is.
 */
export class PiDialect implements Dialect {
  readonly #output = new OutputSoFar();
  #facts: RunFacts = {};
  /** The latest model call failed, and this is why. */
  #failure: ErrorInfo | null = null;
  /** Whether the agent said that it is done. */
  #isDone = false;

  readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["session", (line, run) => this.#begin(line, run)],
    ["message_start", (line, run) => this.#messageStart(line, run)],
    ["message_update", (line, run) => this.#update(line, run)],
    ["message_end", (line, run) => this.#messageEnd(line, run)],
    ["tool_execution_start", (line, run) => this.#toolStart(line, run)],
    ["tool_execution_update", (line, run) => this.#toolOutput(line, run)],
    ["tool_execution_end", (line, run) => this.#toolEnd(line, run)],
    ["turn_end", (_, run) => this.#turnEnd(run)],
    ["agent_end", (line) => void (this.#isDone = line["willRetry"] !== true)],
    ["agent_settled", (line, run) => this.#settled(run, line["aborted"] === true)],
    ["auto_retry_start", (line, run) => this.#retry(line, run)],
    ["auto_retry_end", (line) => this.#retryEnd(line)],
    ["compaction_start", (line, run) => run.notice(`compaction_start: ${textOf(line, "reason")}`)],
    ["compaction_end", (line, run) => this.#compacted(line, run)],
    [
      "summarization_retry_scheduled",
      (line, run) => run.notice(`summarization_retry_scheduled: ${textOf(line, "errorMessage")}`, "warning"),
    ],
    ["extension_error", (line, run) => run.notice(`extension_error: ${textOf(line, "error")}`, "warning")],
    ...NOTHING.map((name): [string, Handler] => [name, () => undefined]),
  ]);

  nameOf(_: Fields, type: string): string {
    return type;
  }

  sessionOf(line: Fields): string | null {
    return line["type"] === "session" ? wordOf(line, "id") : null;
  }

  begins(line: Fields): boolean {
    return line["type"] === "session";
  }

  end(run: RunBuilder): void {
    if (run.isOpen && (this.#isDone || this.#failure)) this.#settled(run);
  }

  #begin(line: Fields, run: RunBuilder): void {
    this.#facts = { cwd: wordOf(line, "cwd") };
    this.#isDone = false;
    this.#failure = null;
    run.begin(this.#facts);
  }

  #messageStart(line: Fields, run: RunBuilder): void {
    const message = needObject(line, "message");
    if (!run.isOpen) run.begin(this.#facts);
    this.#isDone = false;
    if (message["role"] === "user") run.prompt(contentOf(message["content"]));
    if (message["role"] !== "assistant") return;
    run.setModel(wordOf(message, "model"));
    // Another message without an end of this one: it was given up.
    if (run.isWriting && run.hasWritten) run.endStep();
    run.beginStep();
  }

  #update(line: Fields, run: RunBuilder): void {
    const update = needObject(line, "assistantMessageEvent");
    switch (update["type"]) {
      case "text_start":
        return run.openBlock("text");
      case "thinking_start":
        return run.openBlock("thinking");
      case "text_delta":
        return run.text(needText(update, "delta"));
      case "thinking_delta":
        return run.thinking(needText(update, "delta"));
      default:
        // Ends, and calls, come whole with the message.
        return;
    }
  }

  #messageEnd(line: Fields, run: RunBuilder): void {
    const message = needObject(line, "message");
    switch (message["role"]) {
      case "assistant":
        return this.#assistant(message, run);
      case "toolResult":
        // Told before, unless that line is missing.
        run.endCall(textOf(message, "toolCallId") ?? "", endOf(message));
        return;
      case "custom":
        return run.notice(`custom: ${textOfContent(message["content"])}`);
      default:
        return;
    }
  }

  #assistant(message: Fields, run: RunBuilder): void {
    this.#failure = failureOf(message);
    // The step stays open, since it may be tried again.
    if (this.#failure) return run.beginStep();
    for (const block of blocksOf(message)) run.block(block);
    run.beginStep();
    run.record(recordFacts(message));
  }

  #toolStart(line: Fields, run: RunBuilder): void {
    const id = needText(line, "toolCallId");
    run.call(id, needText(line, "toolName"), line["args"] ?? {});
    run.startCall(id);
  }

  #toolOutput(line: Fields, run: RunBuilder): void | false {
    const id = needText(line, "toolCallId");
    const text = textOfContent(objectOf(line, "partialResult")?.["content"]);
    return run.output(id, this.#output.news(id, text)) ? undefined : false;
  }

  #toolEnd(line: Fields, run: RunBuilder): void | false {
    const id = needText(line, "toolCallId");
    this.#output.forget(id);
    return run.endCall(id, endOf(line)) ? undefined : false;
  }

  #turnEnd(run: RunBuilder): void {
    if (!this.#failure && !run.isWriting) run.endStep();
  }

  #retry(line: Fields, run: RunBuilder): void {
    const retries = countOf(line, "maxAttempts");
    this.#isDone = false;
    run.retry({
      maxAttempts: retries === null ? null : retries + 1,
      delayMs: countOf(line, "delayMs"),
      error: this.#failure ?? callFailure(textOf(line, "errorMessage") ?? "", null),
    });
  }

  #retryEnd(line: Fields): void {
    const error = textOf(line, "finalError");
    if (line["success"] === false) this.#failure ??= callFailure(error ?? "", null);
  }

  #compacted(line: Fields, run: RunBuilder): void {
    const error = wordOf(line, "errorMessage");
    run.notice(`compaction_end: ${error ?? "done"}`, error === null ? "info" : "warning");
  }

  #settled(run: RunBuilder, aborted = false): void {
    if (!run.isOpen) return;
    const abort = aborted ? failure("the run was aborted", { code: "cancelled" }) : null;
    run.end({ error: this.#failure ?? abort });
    this.#failure = null;
    this.#isDone = false;
  }
}
