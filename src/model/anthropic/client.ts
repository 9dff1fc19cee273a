import { hostOf, keyRedactor } from "../endpoint.ts";
import { HttpClient, type HttpModelClient } from "../http-client.ts";
import { AnthropicDecoder } from "./chunks.ts";
import { ANTHROPIC_DIALECT } from "./errors.ts";
import type { AnthropicOptions } from "./options.ts";
import { toBody } from "./request.ts";
import { createTransport, DEFAULT_BASE_URL, NAMES } from "./transport.ts";

export type { AnthropicOptions } from "./options.ts";

export type AnthropicModelClient = HttpModelClient;

/** The `anthropic` provider: Anthropic's Messages API, and the servers that speak it. */
export function createAnthropicClient(options: AnthropicOptions): AnthropicModelClient {
  return new HttpClient({
    context: {
      provider: "anthropic",
      host: hostOf(options.baseURL || DEFAULT_BASE_URL),
      names: NAMES,
      redact: keyRedactor([options.apiKey, options.authToken], options.proxy),
    },
    dialect: ANTHROPIC_DIALECT,
    connect: () => createTransport(options),
    trace: options.trace,
    exchange: (request) => ({
      body: () => toBody(request),
      decoder: (context) => new AnthropicDecoder(context),
    }),
  });
}
