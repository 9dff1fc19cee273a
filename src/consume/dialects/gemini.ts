import type { Usage } from "../../protocol/content.ts";
import type { ErrorCode, ErrorInfo } from "../../protocol/errors.ts";
import type { Dialect, Handler } from "./dialect.ts";
import { failure, statusIn } from "./failure.ts";
import { countOf, needText, objectOf, textOf, timeOf, wordOf, type Fields } from "./fields.ts";
import { contentOf } from "./messages-api.ts";
import type { RunBuilder } from "./run-builder.ts";
import { isObject } from "../schema-check.ts";

/** Why a run or a call failed, in Gemini CLI's words. */
const FAILURES: Record<string, ErrorCode> = {
  FatalTurnLimitedError: "max_steps",
  FatalAuthenticationError: "authentication",
  FatalCancellationError: "cancelled",
  FatalInputError: "invalid_request",
  FatalConfigError: "config",
  INVALID_STREAM: "malformed_response",
};
/** Types of errors of a call that mean that it was not allowed. */
const DENIALS = ["policy_violation", "execution_denied", "EXECUTION_DENIED"];

/**
 * Gemini CLI, `--output-format stream-json`. The model's text comes as deltas only, its thinking not at all; tokens are told
 * in total only. A model call ends where the next kind of line begins.
 */
export class GeminiDialect implements Dialect {
  /** The latest error that was told by a line of its own. */
  #error: string | null = null;

  readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["init", (line, run) => run.begin({ model: wordOf(line, "model") })],
    ["message", (line, run) => this.#message(line, run)],
    ["tool_use", (line, run) => this.#toolUse(line, run)],
    ["tool_result", (line, run) => this.#toolResult(line, run)],
    ["error", (line, run) => this.#trouble(line, run)],
    ["result", (line, run) => this.#result(line, run)],
  ]);

  nameOf(_: Fields, type: string): string {
    return type;
  }

  sessionOf(line: Fields): string | null {
    return wordOf(line, "session_id");
  }

  begins(line: Fields): boolean {
    return line["type"] === "init";
  }

  timeOf(line: Fields): string | null {
    return timeOf(line, "timestamp");
  }

  end(run: RunBuilder): void {
    if (this.#error !== null) run.breakOff(failure(this.#error, { status: statusIn(this.#error) }));
  }

  #message(line: Fields, run: RunBuilder): void {
    const text = needText(line, "content");
    if (line["role"] === "user") run.prompt(text);
    else if (line["delta"] === true) run.text(text);
    else run.block({ type: "text", text });
  }

  #toolUse(line: Fields, run: RunBuilder): void {
    const id = needText(line, "tool_id");
    const input = line["parameters"] ?? {};
    run.block({ type: "tool_use", id, name: needText(line, "tool_name"), input });
  }

  #toolResult(line: Fields, run: RunBuilder): void | false {
    const id = needText(line, "tool_id");
    const error = objectOf(line, "error");
    const isDenied = DENIALS.includes(textOf(error, "type") ?? "");
    const failed = line["status"] === "error" || error !== undefined;
    const content = textOf(line, "output") ?? textOf(error, "message") ?? "";
    const status = isDenied ? "denied" : failed ? "error" : "ok";
    return run.endCall(id, { status, content: contentOf(content) }) ? undefined : false;
  }

  #trouble(line: Fields, run: RunBuilder): void {
    const message = needText(line, "message");
    const isError = line["severity"] === "error";
    if (isError) this.#error = message;
    run.notice(`error: ${message}`, "warning");
  }

  #result(line: Fields, run: RunBuilder): void {
    const stats = objectOf(line, "stats");
    run.record();
    run.end({
      error: this.#failureOf(line),
      usage: usageOf(stats),
      usageByModel: usageByModelOf(stats),
      durationMs: countOf(stats, "duration_ms"),
    });
    this.#error = null;
  }

  #failureOf(line: Fields): ErrorInfo | null {
    if (line["status"] !== "error") return null;
    const error = objectOf(line, "error");
    const type = textOf(error, "type") ?? "";
    const message = textOf(error, "message") ?? this.#error ?? "";
    const code = Object.hasOwn(FAILURES, type) ? FAILURES[type] : undefined;
    return failure(message, { code, status: code ? null : statusIn(message) });
  }
}

/** `input` is what was not cached of `input_tokens`. */
function usageOf(stats: Fields | undefined): Usage | null {
  const all = countOf(stats, "input_tokens");
  const output = countOf(stats, "output_tokens");
  if (all === null || output === null) return null;
  const cached = countOf(stats, "cached") ?? 0;
  return {
    input_tokens: countOf(stats, "input") ?? Math.max(all - cached, 0),
    output_tokens: output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
  };
}

function usageByModelOf(stats: Fields | undefined): Record<string, Usage> | undefined {
  const models = objectOf(stats, "models");
  if (!models) return undefined;
  return Object.fromEntries(
    Object.entries(models).flatMap(([model, tokens]) => {
      const usage = isObject(tokens) ? usageOf(tokens) : null;
      return usage ? [[model, usage]] : [];
    }),
  );
}
