import type { Usage } from "../protocol/content.ts";
import { ModelError, type ModelChunk } from "./client.ts";
import type { ErrorContext } from "./endpoint.ts";
import { excerpt } from "./http.ts";
import { brokenStream, connectError, type FailedAnswer } from "./http-errors.ts";
import type { PostAnswer } from "./http-post.ts";
import { parseJson } from "./json.ts";
import { reworded } from "./reword.ts";
import { SseDecoder, type SseFrame } from "./sse.ts";

/** Sends one request body; resolves once the head of the answer has come. */
export type Transport = (body: object, signal: AbortSignal) => Promise<PostAnswer>;

/** What a provider's answers and errors mean. */
export interface Dialect {
  /** Where an answer's id stands, the best first. */
  requestIdHeaders: readonly string[];
  /** The error for an answer with an HTTP status that is no success. */
  httpError(answer: FailedAnswer, context: ErrorContext): ModelError;
  /** The error for an error object that came inside a success; undefined if `json` is none. */
  reportedError(json: unknown, context: ErrorContext): ModelError | undefined;
}

/** Turns the events of one answer into chunks. */
export interface AnswerDecoder {
  /** Tokens of this call, as far as they are known. */
  readonly usage: Usage | null;
  /**
   * Adds the chunks that an event makes; `done` is the last, what follows it is not to be read.
   * @throws {ModelError} for an error that the provider reports, and for what cannot be understood.
   */
  read(frame: SseFrame, requestId: string | null, chunks: ModelChunk[]): void;
  /** Whether the answer is over but for what may still be said about it, so that silence is an end. */
  readonly closing?: boolean;
  /** Adds the chunks that the end of the stream makes; `done` among them if it ends a whole answer. */
  end?(requestId: string | null, chunks: ModelChunk[]): void;
}

/** How long a server may take to say the last about an answer that is over, in ms. */
const LAST_WORDS_MS = 3000;

/** How long a finished answer's connection has to end by itself, in ms. */
const CLOSING_MS = 100;
/** How much is read of an answer that is no event stream. */
const LOOKED_AT_BYTES = 65_536;

type Reader = AsyncIterator<Uint8Array, unknown>;

/** One request and its answer: open it, take chunks until it is finished, close it. */
export class HttpCall {
  readonly #dialect: Dialect;
  readonly #context: ErrorContext;
  readonly #signal: AbortSignal;
  readonly #connection = new AbortController();
  readonly #abort = () => this.#connection.abort();
  readonly #decoder: AnswerDecoder;
  #requestId: string | null = null;
  readonly #sse = new SseDecoder();
  #reader: Reader | undefined;
  #ended = false;
  #finished = false;
  #failure: { thrown: unknown } | undefined;

  constructor(dialect: Dialect, decoder: AnswerDecoder, context: ErrorContext, signal: AbortSignal) {
    this.#dialect = dialect;
    this.#decoder = decoder;
    this.#context = context;
    this.#signal = signal;
    // Linked by hand, since a signal of a whole session would collect the listeners of all its calls.
    signal.addEventListener("abort", this.#abort);
    if (signal.aborted) this.#abort();
  }

  /**
   * Sends the request and waits for the head of the answer.
   * @throws {ModelError} for any answer that is no event stream.
   */
  async open(transport: Transport, body: object): Promise<void> {
    const answer = safe(await this.#send(transport, body), this.#context);
    this.#requestId = firstOf(answer, this.#dialect.requestIdHeaders);
    // Whoever reads is told of errors; those that come when nobody reads any more belong to nobody.
    answer.body.on("error", () => undefined);
    this.#reader = answer.body[Symbol.asyncIterator]();
    const kind = answer.headers.get("content-type") ?? "";
    const isSuccess = answer.status >= 200 && answer.status < 300;
    if (isSuccess && answer.status !== 204 && kind !== "" && !/json|html/i.test(kind)) return;
    const text = await beginning(this.#reader, this.#context);
    const json = parseJson(text);
    const { status, headers } = answer;
    if (!isSuccess) {
      const failed = { status, headers, json, text: json === undefined ? text : "" };
      throw this.#dialect.httpError(failed, this.#context);
    }
    const reported = this.#dialect.reportedError(json, this.#context);
    if (reported) throw reported;
    const shown = excerpt(this.#context.redact(text)) || "nothing";
    const what = `${this.#context.host} answered ${kind || "without a type"} instead of an event stream`;
    throw new ModelError("malformed_response", `${what}; check --base-url. It sent: ${shown}`, {
      httpStatus: status,
    });
  }

  /** Whether the answer is complete. */
  get finished(): boolean {
    return this.#finished;
  }

  /**
   * The chunks of the next network read; there may be none. What follows the end of the answer is not read.
   * @throws {ModelError} if the connection breaks or ends too early, for an error that the provider reports,
   * and for what cannot be understood.
   */
  async next(): Promise<ModelChunk[]> {
    if (this.#failure !== undefined) throw this.#failure.thrown;
    const chunks: ModelChunk[] = [];
    const frames = await this.#frames();
    try {
      for (const frame of frames) {
        this.#decoder.read(frame, this.#requestId, chunks);
        if (isDone(chunks)) break;
      }
      if (this.#ended && !isDone(chunks)) this.#decoder.end?.(this.#requestId, chunks);
      this.#finished = isDone(chunks);
    } catch (thrown) {
      // What came before it was said all the same, and is handed on first.
      this.#failure = { thrown };
    }
    return chunks;
  }

  /** Adds to an error what is known of the call, and makes sure that it holds no key. */
  sealed(thrown: unknown): ModelError {
    const { provider, redact } = this.#context;
    if (this.#signal.aborted)
      return new ModelError("cancelled", "the model call was cancelled", { provider });
    const error = thrown instanceof ModelError ? thrown : unexpected(thrown);
    const requestId = error.requestId ?? this.#requestId;
    return reworded(error, redact(error.message), {
      provider,
      requestId: requestId === null ? null : redact(requestId),
      usage: error.usage ?? this.#decoder.usage,
    });
  }

  /**
   * Ends the connection. One whose answer is complete gets a moment to end by itself, so that the next
   * step can use it again; a server that keeps it open must not keep the process alive.
   */
  close(): void {
    this.#signal.removeEventListener("abort", this.#abort);
    if (this.#finished && this.#reader !== undefined) void drain(this.#reader, this.#abort);
    else this.#abort();
  }

  async #send(transport: Transport, body: object): Promise<PostAnswer> {
    try {
      return await transport(body, this.#connection.signal);
    } catch (thrown) {
      throw connectError(thrown, this.#context);
    }
  }

  async #frames(): Promise<SseFrame[]> {
    if (this.#reader === undefined || this.#ended) throw this.#unfinished();
    const reading = read(this.#reader, this.#context);
    const bytes = await (this.#decoder.closing === true ? within(LAST_WORDS_MS, reading) : reading);
    this.#ended = bytes === undefined;
    return bytes === undefined ? this.#sse.end() : this.#sse.push(bytes);
  }

  #unfinished(): ModelError {
    const { stray } = this.#sse;
    // llama.cpp had errors in a field of that name.
    const json = parseJson(stray.replace(/^\s*error:/, ""));
    const reported = this.#dialect.reportedError(json, this.#context);
    if (reported) return reported;
    const shown = excerpt(this.#context.redact(stray));
    const sent = shown === "" ? "" : `; outside any event it sent: ${shown}`;
    const message = `${this.#context.host} closed the stream before the answer was complete${sent}`;
    return new ModelError("stream_interrupted", message, { retryable: true });
  }
}

function isDone(chunks: readonly ModelChunk[]): boolean {
  return chunks.at(-1)?.type === "done";
}

/** What is read in time; undefined, as at the end, if nothing is. */
async function within(ms: number, reading: Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
  // Nobody may be left to hear how it fails.
  reading.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Servers have been seen to quote a key in their headers too. */
function safe(answer: PostAnswer, { redact }: ErrorContext): PostAnswer {
  const get = (name: string) => {
    const value = answer.headers.get(name);
    return value === null ? null : redact(value);
  };
  return { ...answer, headers: { get } };
}

function firstOf({ headers }: PostAnswer, names: readonly string[]): string | null {
  return names.map((name) => headers.get(name)).find((value) => value !== null) ?? null;
}

/** The bytes of the next read; undefined at the end. */
async function read(reader: Reader, context: ErrorContext): Promise<Uint8Array | undefined> {
  try {
    const next = await reader.next();
    return next.done ? undefined : next.value;
  } catch (thrown) {
    throw brokenStream(thrown, context);
  }
}

/** Enough of a body to say what it is. */
async function beginning(reader: Reader, context: ErrorContext): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let size = 0; size < LOOKED_AT_BYTES;) {
    const bytes = await read(reader, context);
    if (bytes === undefined) break;
    parts.push(bytes);
    size += bytes.length;
  }
  return Buffer.concat(parts).toString();
}

async function drain(reader: Reader, abort: () => void): Promise<void> {
  const timer = setTimeout(abort, CLOSING_MS);
  try {
    while (!(await reader.next()).done);
  } catch {
    // The answer is complete; what becomes of its connection is of no interest.
  } finally {
    clearTimeout(timer);
  }
}

function unexpected(thrown: unknown): ModelError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ModelError("internal", `internal error, please report it: ${excerpt(message)}`, {
    cause: thrown,
  });
}
