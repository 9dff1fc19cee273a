import type { Usage } from "../../protocol/content.ts";
import type { NoticeCode, StopReason } from "../../protocol/words.ts";
import { Accumulator } from "../accumulate.ts";
import { ModelError, type ModelChunk } from "../client.ts";
import type { ErrorContext } from "../endpoint.ts";
import { excerpt } from "../http.ts";
import type { AnswerDecoder } from "../http-call.ts";
import { unreadableFrame } from "../http-errors.ts";
import { isRecord, parseJson, record, string, type Json } from "../json.ts";
import type { SseFrame } from "../sse.ts";
import { CallFragments } from "./calls.ts";
import { contentPieces } from "./content.ts";
import { reportOf } from "./error-report.ts";
import { streamError } from "./errors.ts";
import { finishOf } from "./finish.ts";
import { reasoningOf, type ReasoningField } from "./reasoning.ts";
import { UsageReports } from "./usage.ts";

export interface DecoderOptions {
  /** Names of the tools that the model was told of. */
  tools: readonly string[];
  /** Ids of calls in the history. */
  usedIds: Set<string>;
  /** Whether thinking is handed on. */
  thinking: boolean;
  /** Told under which name the server sends thinking. */
  onReasoningField: (field: ReasoningField) => void;
}

/**
 * Chat Completions' stream → chunks, one event at a time.
 *
 * Tolerant of what the many servers of this dialect send. Strict in one thing: an answer is whole only once a
 * finish reason says so, since gateways close cut streams in order, `[DONE]` included.
 */
export class OpenAIDecoder implements AnswerDecoder {
  readonly #context: ErrorContext;
  readonly #options: DecoderOptions;
  readonly #accumulator = new Accumulator();
  readonly #calls: CallFragments;
  readonly #usage = new UsageReports();
  readonly #noticed = new Set<string>();
  /** The block of text or thinking that is being written. */
  #open: { type: "text" | "thinking"; block: number } | undefined;
  #id = "";
  #model = "";
  #finish: { stopReason: StopReason | null } | undefined;
  #endMark = false;
  #refused = false;
  #hasContent = false;
  /** A finish reason was followed by more of the answer, so that it says nothing about the end. */
  #finishMisused = false;

  constructor(context: ErrorContext, options: DecoderOptions) {
    this.#context = context;
    this.#options = options;
    this.#calls = new CallFragments(this.#accumulator, options.tools, options.usedIds);
  }

  get usage(): Usage | null {
    return this.#usage.usage;
  }

  get closing(): boolean {
    return this.#endMark || (this.#finish !== undefined && !this.#finishMisused);
  }

  read(frame: SseFrame, requestId: string | null, chunks: ModelChunk[]): void {
    const chunk = parseJson(frame.data);
    if (chunk === undefined) this.#unreadable(frame, requestId, chunks);
    else if (isRecord(chunk) && frame.event !== "error") this.#chunk(chunk, chunks);
    else this.#odd(frame, chunk, chunks);
  }

  end(requestId: string | null, chunks: ModelChunk[]): void {
    if (this.#finish === undefined && !this.#isWholeByItsCalls) return;
    this.#calls.openAll(chunks);
    const stopReason = this.#stopReason();
    chunks.push({
      type: "done",
      id: this.#id,
      model: this.#model || this.#context.model,
      content: this.#accumulator.finish(stopReason),
      stopReason,
      usage: this.usage,
      requestId,
    });
  }

  /** Some servers end an answer that calls tools with the end mark alone. */
  get #isWholeByItsCalls(): boolean {
    return this.#endMark && this.#calls.count > 0 && this.#calls.complete;
  }

  #chunk(chunk: Json, chunks: ModelChunk[]): void {
    const choices = chunk["choices"];
    const choice = Array.isArray(choices) ? record(choices[0]) : {};
    if (chunk["error"] !== undefined || choice["error"] !== undefined || choices === undefined) {
      const report = reportOf(chunk, false);
      if (report) throw streamError(report, this.#context);
    }
    this.#id ||= string(chunk["id"]);
    this.#model ||= string(chunk["model"]);
    this.#usage.addFrom(chunk, choice);
    // One choice was asked for.
    if (choice["index"] === undefined || choice["index"] === null || choice["index"] === 0)
      this.#choice(choice, chunks);
  }

  #choice(choice: Json, chunks: ModelChunk[]): void {
    const before = chunks.length;
    const delta = choice["delta"];
    if (isRecord(delta)) this.#delta(delta, chunks);
    // A whole message in place of its pieces; behind them it would repeat them.
    else if (isRecord(choice["message"]) && !this.#hasContent) this.#delta(choice["message"], chunks);
    if (chunks.length > before) {
      this.#hasContent = true;
      this.#finishMisused ||= this.#finish !== undefined;
    }
    const finish = string(choice["finish_reason"]);
    if (finish !== "") this.#finished(finish, chunks);
  }

  #delta(delta: Json, chunks: ModelChunk[]): void {
    const reasoning = reasoningOf(delta);
    if (reasoning) {
      if (reasoning.field) this.#options.onReasoningField(reasoning.field);
      this.#write("thinking", reasoning.text, chunks);
    }
    const content = delta["content"];
    // By far the commonest, and short.
    if (typeof content === "string") this.#write("text", content, chunks);
    else for (const { type, text } of contentPieces(content)) this.#write(type, text, chunks);
    const refusal = string(delta["refusal"]);
    if (refusal !== "") {
      this.#refused = true;
      this.#write("text", refusal, chunks);
    }
    const calls = delta["tool_calls"] ?? delta["function_call"];
    if (isRecord(calls)) this.#call(calls, chunks);
    if (!Array.isArray(calls)) return;
    for (const fragment of calls) if (isRecord(fragment)) this.#call(fragment, chunks);
  }

  #write(type: "text" | "thinking", text: string, chunks: ModelChunk[]): void {
    if (text === "") return;
    if (type === "thinking" && !this.#options.thinking) {
      chunks.push({ type: "progress" });
      return;
    }
    if (this.#open?.type !== type) {
      this.#calls.openAll(chunks);
      this.#open = { type, block: this.#accumulator.open({ type }) };
    }
    const { block } = this.#open;
    this.#accumulator.append(block, text);
    chunks.push({ type, block, text });
  }

  #call(fragment: Json, chunks: ModelChunk[]): void {
    const known = this.#calls.count;
    if (!this.#calls.add(fragment, chunks))
      this.#skip("malformed_provider_frame", "arguments for a call that was not begun", "", chunks);
    // What the model says behind a call is a block of its own.
    if (this.#calls.count > known) this.#open = undefined;
  }

  #finished(word: string, chunks: ModelChunk[]): void {
    const finish = finishOf(word, this.#context);
    if (finish instanceof ModelError) throw finish;
    if (finish === undefined) this.#skip("unknown_provider_event", "an unknown finish reason", word, chunks);
    this.#finish = { stopReason: finish ?? null };
  }

  #stopReason(): StopReason | null {
    if (this.#refused) return "refusal";
    const said = this.#finish === undefined ? "end_turn" : this.#finish.stopReason;
    if (said !== "end_turn" && said !== "tool_use") return said;
    // Some say `stop` where there are calls, and some name calls where there are none.
    return this.#calls.count > 0 ? "tool_use" : "end_turn";
  }

  #unreadable(frame: SseFrame, requestId: string | null, chunks: ModelChunk[]): void {
    const data = frame.data.trim();
    if (/^\[done\]$/i.test(data)) {
      this.#endMark = true;
      this.end(requestId, chunks);
      return;
    }
    // A frame that the end of the stream cut: the stream is broken, which is judged elsewhere.
    if (data === "" || frame.unterminated) return;
    if (frame.event === "error")
      throw streamError({ message: data, words: [], status: undefined }, this.#context);
    throw unreadableFrame(data, injected(data), this.#context);
  }

  /** An event that is called an error, or is no object. */
  #odd(frame: SseFrame, value: unknown, chunks: ModelChunk[]): void {
    const failed = frame.event === "error";
    const report =
      reportOf(value, failed) ?? (failed ? { message: frame.data, words: [], status: undefined } : undefined);
    if (report) throw streamError(report, this.#context);
    this.#skip("malformed_provider_frame", "an event that is no object", frame.data, chunks);
  }

  #skip(code: NoticeCode, what: string, detail: string, chunks: ModelChunk[]): void {
    if (this.#noticed.has(what)) return;
    this.#noticed.add(what);
    const shown = excerpt(this.#context.redact(detail), 80);
    const message = `the provider sent ${what}${shown === "" ? "" : ` (${shown})`}; it was skipped`;
    chunks.push({ type: "notice", code, message });
  }
}

/** A gateway that fails in the middle of an event puts its error object into the same event. */
function injected(data: string): string {
  if (!data.includes("\n")) return "";
  return reportOf(parseJson(data.slice(data.indexOf("\n") + 1)), true)?.message ?? "";
}
