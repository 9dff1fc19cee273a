import type { Usage } from "../../protocol/content.ts";
import type { ErrorCode, ErrorInfo } from "../../protocol/errors.ts";
import type { StopReason } from "../../protocol/words.ts";
import type { CallEnd } from "./calls.ts";
import type { Dialect, Handler } from "./dialect.ts";
import { failure, statusIn } from "./failure.ts";
import {
  countOf,
  elapsed,
  needObject,
  needText,
  objectOf,
  textOf,
  timeOf,
  wordOf,
  type Fields,
} from "./fields.ts";
import type { RunBuilder } from "./run-builder.ts";

const STOPS: Record<string, StopReason> = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
};

/** The names of opencode's errors. */
const FAILURES: Record<string, ErrorCode> = {
  ProviderAuthError: "authentication",
  MessageOutputLengthError: "max_tokens",
  MessageAbortedError: "cancelled",
  ContextOverflowError: "context_overflow",
  StructuredOutputError: "malformed_response",
};

/** How a call ends that was not allowed. */
const REJECTED = /^(?:Error: )?The user (?:rejected|has specified a rule which prevents)/;

/**
 * opencode, `run --format json`. Parts come when they are complete, hence each as one delta, and calls only when they have
 * ended. Up to 1.18 there is no last line: the run has ended if its last step asks for no call.
 */
export class OpencodeDialect implements Dialect {
  #error: ErrorInfo | null = null;
  /** Calls of the open step that have ended. */
  #ended: [string, CallEnd][] = [];
  #startedAt: number | null = null;

  readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["step_start", (line, run) => this.#stepStart(line, run)],
    ["text", (line, run) => this.#part(line, "text", run)],
    ["reasoning", (line, run) => this.#part(line, "thinking", run)],
    ["tool_use", (line, run) => this.#toolUse(line, run)],
    ["step_finish", (line, run) => this.#stepFinish(line, run)],
    ["error", (line, run) => this.#failed(line, run)],
    ["done", (line, run) => this.#done(line, run)],
  ]);

  nameOf(_: Fields, type: string): string {
    return type;
  }

  sessionOf(line: Fields): string | null {
    return wordOf(line, "sessionID");
  }

  begins(): boolean {
    return false;
  }

  timeOf(line: Fields): string | null {
    return timeOf(line, "timestamp");
  }

  end(run: RunBuilder): void {
    // A session that cannot begin has no other line.
    if (this.#error) run.end({ error: this.#error });
    else if (!run.isOpen) return;
    else if (!run.isWriting && run.stopReason !== null && run.stopReason !== "tool_use") run.end();
  }

  #stepStart(line: Fields, run: RunBuilder): void {
    needObject(line, "part");
    // A step that begins again without an end was given up.
    if (run.isWriting) {
      const error = failure("the model call was given up, why is not told", { code: "stream_interrupted" });
      run.retry({ maxAttempts: null, delayMs: null, error });
    }
    this.#ended = [];
    this.#startedAt = countOf(line, "timestamp");
    run.beginStep();
  }

  #part(line: Fields, kind: "text" | "thinking", run: RunBuilder): void {
    const text = needText(needObject(line, "part"), "text");
    run.block(kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text });
  }

  #toolUse(line: Fields, run: RunBuilder): void {
    const part = needObject(line, "part");
    const id = needText(part, "callID");
    const name = needText(part, "tool");
    const state = needObject(part, "state");
    run.block({ type: "tool_use", id, name, input: state["input"] ?? {} });
    this.#ended.push([id, endOf(state)]);
  }

  #stepFinish(line: Fields, run: RunBuilder): void {
    const part = needObject(line, "part");
    const reason = textOf(part, "reason") ?? "";
    const asked = this.#ended.length > 0;
    const told = Object.hasOwn(STOPS, reason) ? STOPS[reason] : null;
    run.beginStep();
    run.record({
      id: wordOf(part, "messageID"),
      stopReason: told ?? (asked ? "tool_use" : null),
      usage: usageOf(objectOf(part, "tokens")),
    });
    run.startCalls();
    for (const [id, end] of this.#ended) run.endCall(id, end);
    this.#ended = [];
    run.endStep(elapsed({ start: this.#startedAt, end: line["timestamp"] }));
  }

  /** A failed call of the session ends the run, but its line need not be the last. */
  #failed(line: Fields, run: RunBuilder): void {
    const error = needObject(line, "error");
    this.#error = failureOf(error);
    run.notice(`error: ${this.#error.message}`, "warning");
  }

  #done(line: Fields, run: RunBuilder): void {
    const rejected = line["rejected"];
    for (const permission of Array.isArray(rejected) ? rejected : []) {
      run.notice(`not allowed: ${String(permission)}`, "warning", "permission_denied");
    }
    run.end({ error: this.#error });
    this.#error = null;
  }
}

function endOf(state: Fields): CallEnd {
  const metadata = objectOf(state, "metadata");
  const exit = metadata?.["exit"];
  const message = textOf(state, "error");
  const failed = state["status"] === "error";
  return {
    status: failed ? (REJECTED.test(message ?? "") ? "denied" : "error") : "ok",
    content: textOf(state, "output") ?? message ?? "",
    exitCode: typeof exit === "number" && Number.isInteger(exit) ? exit : null,
    durationMs: elapsed(objectOf(state, "time")),
    truncated: metadata?.["truncated"] === true,
  };
}

function failureOf(error: Fields): ErrorInfo {
  const name = textOf(error, "name") ?? "";
  const data = objectOf(error, "data");
  const message = wordOf(data, "message") ?? wordOf(error, "message") ?? name;
  const retryable = data?.["isRetryable"];
  return failure(message, {
    code: Object.hasOwn(FAILURES, name) ? FAILURES[name] : undefined,
    status: countOf(data, "statusCode") ?? statusIn(message),
    provider: wordOf(data, "providerID"),
    ...(typeof retryable === "boolean" ? { retryable } : {}),
  });
}

/** Thinking is told beside the output, of which it is a part with us. */
function usageOf(tokens: Fields | undefined): Usage | null {
  const input = countOf(tokens, "input");
  if (input === null) return null;
  const cache = objectOf(tokens, "cache");
  return {
    input_tokens: input,
    output_tokens: (countOf(tokens, "output") ?? 0) + (countOf(tokens, "reasoning") ?? 0),
    cache_read_input_tokens: countOf(cache, "read") ?? 0,
    cache_creation_input_tokens: countOf(cache, "write") ?? 0,
  };
}
