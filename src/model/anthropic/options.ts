import type { ProxyOptions } from "../http-post.ts";
import type { Trace } from "../traced.ts";

/** Where and as whom to ask. Nothing is taken from the environment or from files. */
export interface AnthropicOptions {
  /** Either a key or a token is needed; the key wins. */
  apiKey?: string | undefined;
  authToken?: string | undefined;
  /** Default `https://api.anthropic.com`. */
  baseURL?: string | undefined;
  proxy?: ProxyOptions | undefined;
  /** Default `linefeed`. */
  userAgent?: string | undefined;
  /** Is told of each request what becomes of it; keys are taken out. */
  trace?: Trace | undefined;
}
