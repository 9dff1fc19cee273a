import { ModelError, type ModelChunk, type ModelClient, type ModelRequest } from "./client.ts";
import type { ErrorContext } from "./endpoint.ts";
import { traced, type Trace } from "./traced.ts";
import { HttpCall, type AnswerDecoder, type Dialect, type Transport } from "./http-call.ts";

export interface HttpModelClient extends ModelClient {
  /** Loads what the first call will need, so that it hides behind other work. Never rejects. */
  preload(): Promise<void>;
}

/** One request on its way: its body, and what reads its answer. */
export interface Exchange {
  body(): object;
  decoder(context: ErrorContext): AnswerDecoder;
  /** Whether a request that was refused is to be sent again, as the body is now. */
  amend?(error: ModelError): boolean;
}

/** What makes a provider that is reached over HTTP. */
export interface HttpProvider {
  context: Omit<ErrorContext, "model">;
  dialect: Dialect;
  /** @throws {ModelError} `config` or `authentication` if the options make no sense. */
  connect(): Promise<Transport>;
  exchange(request: ModelRequest): Exchange;
  trace?: Trace | undefined;
}

/** The port to a provider that answers a POST with server-sent events. */
export class HttpClient implements HttpModelClient {
  readonly provider: string;
  readonly #http: HttpProvider;
  #transport: Promise<Transport> | undefined;

  constructor(http: HttpProvider) {
    this.provider = http.context.provider;
    this.#http = http;
  }

  async preload(): Promise<void> {
    await this.#load().catch(() => {});
  }

  async *stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelChunk[], void, undefined> {
    const context = { ...this.#http.context, model: request.model };
    const exchange = this.#http.exchange(request);
    const newCall = () => new HttpCall(this.#http.dialect, exchange.decoder(context), context, signal);
    let call = newCall();
    try {
      while (!(await this.#open(call, exchange))) {
        call.close();
        call = newCall();
      }
      while (!call.finished) {
        const chunks = await call.next();
        if (chunks.length > 0) yield chunks;
      }
    } catch (thrown) {
      throw call.sealed(thrown);
    } finally {
      call.close();
    }
  }

  /** False if the request is to be sent again. */
  async #open(call: HttpCall, exchange: Exchange): Promise<boolean> {
    try {
      await call.open(await this.#load(), exchange.body());
      return true;
    } catch (thrown) {
      if (thrown instanceof ModelError && exchange.amend?.(thrown) === true) return false;
      throw thrown;
    }
  }

  #load(): Promise<Transport> {
    this.#transport ??= this.#connect();
    return this.#transport;
  }

  async #connect(): Promise<Transport> {
    const { trace, context } = this.#http;
    const transport = await this.#http.connect();
    return trace ? traced(transport, context.host, (text) => trace(context.redact(text))) : transport;
  }
}
