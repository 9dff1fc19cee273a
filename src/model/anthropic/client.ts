import type { ModelChunk, ModelClient, ModelRequest } from "../client.ts";
import { redactor } from "../http.ts";
import { Call } from "./call.ts";
import type { AnthropicOptions } from "./options.ts";
import { createTransport, hostOf, secretsOf, type Transport } from "./transport.ts";

export type { AnthropicOptions } from "./options.ts";

export interface AnthropicModelClient extends ModelClient {
  /** Loads what the first call will need, so that it hides behind other work. Never rejects. */
  preload(): Promise<void>;
}

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

  async *stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelChunk[], void, undefined> {
    const context = { host: this.#host, model: request.model, redact: this.#redact };
    const call = new Call(context, signal);
    try {
      await call.open(await this.#load(), request);
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

  #load(): Promise<Transport> {
    this.#transport ??= createTransport(this.#options);
    return this.#transport;
  }
}
