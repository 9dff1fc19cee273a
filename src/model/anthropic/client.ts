import { ModelError, type ModelChunk, type ModelClient, type ModelRequest } from "../client.ts";
import { excerpt, redactor } from "../http.ts";
import { reworded } from "../reword.ts";
import { SseDecoder } from "../sse.ts";
import { AnthropicDecoder } from "./chunks.ts";
import { brokenStream, connectError, httpError, streamError, type ErrorContext } from "./errors.ts";
import { isRecord, parseJson } from "./json.ts";
import { toBody } from "./request.ts";
import { createTransport, hostOf, secretsOf, type AnthropicOptions, type Transport } from "./transport.ts";

export type { AnthropicOptions, ProxyOptions } from "./transport.ts";

export interface AnthropicModelClient extends ModelClient {
  /** Loads what the first call will need, so that it hides behind other work. Never rejects. */
  preload(): Promise<void>;
}

/** How long a finished answer's connection has to end by itself, in ms. */
const CLOSING_MS = 100;
/** How much is read of an answer that is no event stream. */
const LOOKED_AT_BYTES = 65_536;

/** The `anthropic` provider: Anthropic's Messages API, and the servers that speak it. */
export function createAnthropicClient(options: AnthropicOptions): AnthropicModelClient {
  return new AnthropicClient(options);
}

class AnthropicClient implements AnthropicModelClient {
  readonly provider = "anthropic";
  readonly #options: AnthropicOptions;
  readonly #host: string;
  readonly #redact: (text: string) => string;
  #transport: Promise<Transport> | undefined;

  constructor(options: AnthropicOptions) {
    this.#options = options;
    this.#host = hostOf(options.baseURL);
    this.#redact = redactor(secretsOf(options));
  }

  async preload(): Promise<void> {
    await this.#load().catch(() => {});
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk, void, undefined> {
    const context = { host: this.#host, model: request.model, redact: this.#redact };
    const call = new Call(context, signal);
    try {
      const transport = await this.#load();
      yield* call.chunks(await call.open(transport, request));
    } catch (thrown) {
      throw call.sealed(thrown);
    } finally {
      call.close();
    }
  }

  #load(): Promise<Transport> {
    this.#transport ??= createTransport(this.#options);
    return this.#transport;
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** One request and its answer. */
class Call {
  readonly #context: ErrorContext;
  readonly #signal: AbortSignal;
  readonly #connection = new AbortController();
  readonly #abort = () => this.#connection.abort();
  readonly #decoder: AnthropicDecoder;
  #requestId: string | null = null;
  /** Set once the answer is complete, while its connection still has to end. */
  #finished: Reader | undefined;

  constructor(context: ErrorContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
    this.#decoder = new AnthropicDecoder(context);
    // Linked by hand, since a signal of a whole session would collect the listeners of all its calls.
    signal.addEventListener("abort", this.#abort);
    if (signal.aborted) this.#abort();
  }

  /** Sends the request; returns the answer's body, which is an event stream. */
  async open(transport: Transport, request: ModelRequest): Promise<Reader> {
    const response = await this.#send(transport, request);
    this.#requestId = response.headers.get("request-id");
    const kind = response.headers.get("content-type") ?? "";
    if (response.body !== null && !/json|html/i.test(kind)) return response.body.getReader();
    const text = response.body === null ? "" : await this.#beginning(response.body.getReader());
    const json = parseJson(text);
    if (isRecord(json) && isRecord(json["error"])) throw streamError(json, this.#context);
    const shown = excerpt(this.#context.redact(text)) || "nothing";
    const what = `${this.#context.host} answered ${kind || "without a body"} instead of an event stream`;
    throw new ModelError("malformed_response", `${what}; check --base-url. It sent: ${shown}`, {
      httpStatus: response.status,
    });
  }

  async *chunks(reader: Reader): AsyncGenerator<ModelChunk, void, undefined> {
    const sse = new SseDecoder();
    for (let ended = false; !ended;) {
      const { done, value } = await this.#read(reader);
      ended = done;
      for (const frame of done ? sse.end() : sse.push(value)) {
        const chunk = this.#decoder.read(frame, this.#requestId);
        if (chunk === undefined) continue;
        if (chunk.type === "done") this.#finished = reader;
        yield chunk;
        if (chunk.type === "done") return;
      }
    }
    throw this.#unfinished(sse.stray);
  }

  /** Adds to an error what is known of the call, and makes sure that it holds no key. */
  sealed(thrown: unknown): ModelError {
    if (this.#signal.aborted)
      return new ModelError("cancelled", "the model call was cancelled", { provider: "anthropic" });
    const error = thrown instanceof ModelError ? thrown : unexpected(thrown);
    return reworded(error, this.#context.redact(error.message), {
      provider: "anthropic",
      requestId: error.requestId ?? this.#requestId,
      usage: error.usage ?? this.#decoder.usage,
    });
  }

  /**
   * Ends the connection. One whose answer is complete gets a moment to end by itself, so that the next
   * step can use it again; a server that keeps it open must not keep the process alive.
   */
  close(): void {
    this.#signal.removeEventListener("abort", this.#abort);
    if (this.#finished === undefined) this.#abort();
    else void drain(this.#finished, this.#abort);
  }

  async #send(transport: Transport, request: ModelRequest): Promise<Response> {
    const body = toBody(request);
    try {
      return await transport.send(body, this.#connection.signal);
    } catch (thrown) {
      if (!(thrown instanceof transport.APIError)) throw thrown;
      const { status, headers, error, message } = thrown;
      if (status === undefined || headers === undefined) throw connectError(thrown, this.#context);
      const text = error === undefined ? message.replace(/^\d+ (status code \(no body\))?/, "") : "";
      throw httpError({ status, headers, json: error, text }, this.#context);
    }
  }

  async #read(
    reader: Reader,
  ): Promise<{ done: false; value: Uint8Array } | { done: true; value?: undefined }> {
    try {
      const { done, value } = await reader.read();
      return done ? { done } : { done, value };
    } catch (thrown) {
      throw brokenStream(thrown, this.#context);
    }
  }

  /** Enough of a body to say what it is. */
  async #beginning(reader: Reader): Promise<string> {
    const parts: Uint8Array[] = [];
    for (let size = 0; size < LOOKED_AT_BYTES;) {
      const { done, value } = await this.#read(reader);
      if (done) break;
      parts.push(value);
      size += value.length;
    }
    return Buffer.concat(parts).toString();
  }

  #unfinished(stray: string): ModelError {
    const json = parseJson(stray);
    if (isRecord(json) && isRecord(json["error"])) return streamError(json, this.#context);
    const shown = excerpt(this.#context.redact(stray));
    const sent = shown === "" ? "" : `; outside any event it sent: ${shown}`;
    const message = `${this.#context.host} closed the stream before the answer was complete${sent}`;
    return new ModelError("stream_interrupted", message, { retryable: true });
  }
}

async function drain(reader: Reader, abort: () => void): Promise<void> {
  const timer = setTimeout(abort, CLOSING_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete; what becomes of its connection is of no interest.
  } finally {
    clearTimeout(timer);
  }
}

function unexpected(thrown: unknown): ModelError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  // The HTTP library quotes header values, among which may be secrets that are not ours to know.
  if (/header/i.test(message)) {
    return new ModelError("config", "a request header is not valid; check ANTHROPIC_CUSTOM_HEADERS", {
      cause: thrown,
    });
  }
  return new ModelError("internal", `internal error, please report it: ${excerpt(message)}`, {
    cause: thrown,
  });
}
