import type { ProxyOptions } from "../http-post.ts";
import type { Trace } from "../traced.ts";

/** Where and as whom to ask. Nothing is taken from the environment or from files. */
export interface OpenAIOptions {
  /** Needed unless the server is on this machine. */
  apiKey?: string | undefined;
  /** What stands before `/chat/completions`; default `https://api.openai.com/v1`. */
  baseURL?: string | undefined;
  proxy?: ProxyOptions | undefined;
  /** Default `linefeed`. */
  userAgent?: string | undefined;
  /** Is told of each request what becomes of it; keys are taken out. */
  trace?: Trace | undefined;
}
