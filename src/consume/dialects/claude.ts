import type { PermissionMode } from "../../protocol/words.ts";
import { CLAUDE_NOTES } from "./claude-notes.ts";
import { apiFailure, resultFailure } from "./claude-result.ts";
import type { CallEnd } from "./calls.ts";
import type { Dialect, Handler } from "./dialect.ts";
import type { ErrorInfo } from "../../protocol/errors.ts";
import { countOf, needObject, objectOf, objectsOf, textOf, wordOf, wordsOf, type Fields } from "./fields.ts";
import {
  contentOf,
  denialsOf,
  plainTextOf,
  reported,
  stopReasonOf,
  usageByModelOf,
  usageOf,
} from "./messages-api.ts";
import { MessagesReader, subAgentWords } from "./messages-reader.ts";
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
export class ClaudeDialect implements Dialect {
  readonly #messages = new MessagesReader("one message a call");
  /** The latest model call failed, and this is why. */
  #failure: ErrorInfo | null = null;
  #isInterrupted = false;

  readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["system/init", (line, run) => this.#init(line, run)],
    ["stream_event", this.#messages.streamEvent],
    ["assistant", (line, run) => this.#assistant(line, run)],
    ["user", (line, run) => this.#user(line, run)],
    ["result", (line, run) => this.#result(line, run)],
    ["system/api_retry", (line, run) => this.#retry(line, run)],
    ["system/permission_denied", (line, run) => this.#denied(line, run)],
    ["tool_progress", (line, run) => this.#progress(line, run)],
    ...CLAUDE_NOTES,
  ]);

  nameOf(line: Fields, type: string): string {
    const subtype = textOf(line, "subtype");
    return type === "system" && subtype !== null ? `${type}/${subtype}` : type;
  }

  sessionOf(line: Fields): string | null {
    return wordOf(line, "session_id");
  }

  begins(line: Fields): boolean {
    return line["subtype"] === "init";
  }

  end(run: RunBuilder): void {
    this.#messages.complete(run);
  }

  #init(line: Fields, run: RunBuilder): void {
    // One that is repeated before anything was said begins nothing.
    if (run.isOpen && !run.hasTurn) return;
    this.#failure = null;
    this.#isInterrupted = false;
    const mode = textOf(line, "permissionMode") ?? "";
    run.begin({
      version: wordOf(line, "claude_code_version"),
      model: wordOf(line, "model"),
      cwd: wordOf(line, "cwd"),
      tools: wordsOf(line, "tools"),
      permissionMode: Object.hasOwn(MODES, mode) ? MODES[mode] : null,
    });
  }

  #assistant(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const parent = wordOf(line, "parent_tool_use_id");
    if (parent !== null) {
      return this.#messages.subAgent(parent, subAgentWords(message), run) ? undefined : false;
    }
    const word = wordOf(line, "error");
    if (word !== null || message["model"] === "<synthetic>") return this.#synthetic(message, word, run);
    this.#failure = null;
    this.#messages.assistant(message, run, wordOf(line, "request_id"));
    // What was broken off in the middle is no message.
    if (line["aborted"] === true) run.endStep();
  }

  /** Claude Code's own words in the place of the model's. */
  #synthetic(message: Fields, word: string | null, run: RunBuilder): void {
    const text = plainTextOf(contentOf(message["content"]));
    if (word === null) return run.notice(`assistant: ${text}`);
    this.#failure = apiFailure(word, text, null);
    run.beginStep();
  }

  #user(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const parent = wordOf(line, "parent_tool_use_id");
    if (parent !== null) return this.#messages.subAgent(parent, "", run) ? undefined : false;
    const { content } = message;
    const results = objectsOf(message, "content").filter(({ type }) => type === "tool_result");
    if (results.length > 0) return this.#results(results, objectOf(line, "tool_use_result"), run);
    const said = contentOf(content);
    const text = plainTextOf(said);
    if (INTERRUPTED.test(text)) this.#isInterrupted = true;
    if (run.hasTurn || line["isSynthetic"] === true) run.notice(`user: ${text}`);
    else run.prompt(said);
  }

  #results(results: readonly Fields[], details: Fields | undefined, run: RunBuilder): void | false {
    this.#messages.complete(run);
    const known = results.filter((result) => {
      const id = textOf(result, "tool_use_id") ?? "";
      const end = endOf(result, results.length === 1 ? details : undefined);
      return run.endCall(id, end);
    });
    return known.length > 0 ? undefined : false;
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

  #progress(line: Fields, run: RunBuilder): void {
    const seconds = line["elapsed_time_seconds"];
    run.heartbeat("tool", typeof seconds === "number" ? (countOf({ ms: 1000 * seconds }, "ms") ?? 0) : 0);
  }

  #result(line: Fields, run: RunBuilder): void {
    this.#messages.complete(run);
    // Each has its turn, also one that failed before the model was asked.
    if (run.isOpen) run.beginTurn();
    const error = resultFailure(line, this.#failure, this.#isInterrupted);
    run.end({
      error,
      text: error ? null : textOf(line, "result"),
      stopReason: stopReasonOf(line),
      usage: reported(usageOf(objectOf(line, "usage"))),
      usageByModel: usageByModelOf(line),
      durationMs: countOf(line, "duration_ms"),
      apiDurationMs: countOf(line, "duration_api_ms"),
      denials: denialsOf(line),
    });
    this.#failure = null;
    this.#isInterrupted = false;
  }
}

function endOf(result: Fields, details: Fields | undefined): CallEnd {
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

function statusOf(isError: boolean, text: string, details: Fields | undefined): CallEnd["status"] {
  if (details?.["interrupted"] === true) return "cancelled";
  if (!isError) return "ok";
  return DENIED.test(text) ? "denied" : "error";
}
