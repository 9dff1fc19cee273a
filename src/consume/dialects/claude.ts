import type { InputBlock } from "../../protocol/content.ts";
import type { PermissionMode } from "../../protocol/words.ts";
import type { CallEnd } from "./calls.ts";
import { CLAUDE_NOTES } from "./claude-notes.ts";
import { apiFailure, resultFailure } from "./claude-result.ts";
import type { Handler } from "./dialect.ts";
import { countOf, needObject, textOf, wordOf, type Fields } from "./fields.ts";
import { contentOf, plainTextOf } from "./messages-api.ts";
import { MessagesDialect } from "./messages-dialect.ts";
import { MessagesReader } from "./messages-reader.ts";
import type { RunBuilder } from "./run-builder.ts";

const MODES: Record<string, PermissionMode> = {
  default: "default",
  plan: "plan",
  acceptEdits: "accept-edits",
  bypassPermissions: "bypass",
};

/** How Claude Code tells the model that it may not do something. */
const DENIED = /^(?:Claude requested permissions? |Permission to use .* (?:has been|was) denied)/;
const INTERRUPTED = /^\[Request interrupted by user/;
const EXIT_CODE = /^Exit code (\d{1,3})\b/;

/**
 * Claude Code, `--output-format stream-json`, with and without `--include-partial-messages`. Each turn of its has an `init`
 * and a `result`, hence is a run of ours.
 */
export class ClaudeDialect extends MessagesDialect {
  protected override readonly messages = new MessagesReader("one message a call");
  #isInterrupted = false;

  override readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["system/init", (line, run) => this.#init(line, run)],
    ["stream_event", this.messages.streamEvent],
    ["assistant", (line, run) => this.#assistant(line, run)],
    ["user", (line, run) => this.user(line, run)],
    ["result", (line, run) => this.#result(line, run)],
    ["system/api_retry", (line, run) => this.#retry(line, run)],
    ["system/permission_denied", (line, run) => this.#denied(line, run)],
    ["tool_progress", (line, run) => this.#progress(line, run)],
    ...CLAUDE_NOTES,
  ]);

  #init(line: Fields, run: RunBuilder): void {
    this.#isInterrupted = false;
    this.init(line, run, { version: "claude_code_version", mode: "permissionMode", modes: MODES });
  }

  #assistant(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const known = this.subAgent(line, run);
    if (known !== undefined) return known ? undefined : false;
    const word = wordOf(line, "error");
    if (word !== null || message["model"] === "<synthetic>") return this.#synthetic(message, word, run);
    this.failure = null;
    this.messages.assistant(message, run, wordOf(line, "request_id"));
    // What was broken off in the middle is no message.
    if (line["aborted"] === true) run.endStep();
  }

  /** Claude Code's own words in the place of the model's. */
  #synthetic(message: Fields, word: string | null, run: RunBuilder): void {
    const text = plainTextOf(contentOf(message["content"]));
    if (word === null) return run.notice(`assistant: ${text}`);
    this.failure = apiFailure(word, text, null);
    run.beginStep();
  }

  protected override said(content: string | InputBlock[], line: Fields, run: RunBuilder): void {
    const text = plainTextOf(content);
    if (INTERRUPTED.test(text)) this.#isInterrupted = true;
    if (line["isSynthetic"] === true) run.notice(`user: ${text}`);
    else super.said(content, line, run);
  }

  protected override callEnd(result: Fields, details: Fields | undefined): CallEnd {
    const content = contentOf(result["content"]);
    const text = plainTextOf(content);
    const isError = result["is_error"] === true;
    const [, exitCode] = isError ? (EXIT_CODE.exec(text) ?? []) : [];
    return {
      status: statusOf(isError, text, details),
      content,
      exitCode: exitCode === undefined ? null : Number(exitCode),
      durationMs: countOf(details, "totalDurationMs") ?? countOf(details, "durationMs"),
    };
  }

  #retry(line: Fields, run: RunBuilder): void {
    const retries = countOf(line, "max_retries");
    const word = wordOf(line, "error");
    run.retry({
      maxAttempts: retries === null ? null : retries + 1,
      delayMs: countOf(line, "retry_delay_ms"),
      error: apiFailure(word, `the model call failed: ${word ?? "unknown"}`, countOf(line, "error_status")),
    });
  }

  #denied(line: Fields, run: RunBuilder): void {
    const message = textOf(line, "message") ?? "";
    run.deny(textOf(line, "tool_use_id") ?? "", message);
    run.notice(`${textOf(line, "tool_name") ?? "a call"}: ${message}`, "warning", "permission_denied");
  }

  /** A call runs, hence the message that asks for it is complete. */
  #progress(line: Fields, run: RunBuilder): void {
    if (run.asksFor(textOf(line, "tool_use_id") ?? "")) this.complete(run);
    const seconds = line["elapsed_time_seconds"];
    run.heartbeat("tool", typeof seconds === "number" ? (countOf({ ms: 1000 * seconds }, "ms") ?? 0) : 0);
  }

  #result(line: Fields, run: RunBuilder): void {
    this.complete(run);
    // Each has its turn, also one that failed before the model was asked.
    if (run.isOpen) run.beginTurn();
    run.end(this.endFacts(line, resultFailure(line, this.failure, this.#isInterrupted)));
    this.failure = null;
    this.#isInterrupted = false;
  }
}

function statusOf(isError: boolean, text: string, details: Fields | undefined): CallEnd["status"] {
  if (details?.["interrupted"] === true) return "cancelled";
  if (!isError) return "ok";
  return DENIED.test(text) ? "denied" : "error";
}
