import { checkedBaseUrl, checkedKey, noKey } from "../endpoint.ts";
import type { Transport } from "../http-call.ts";
import { loadPost } from "../http-post.ts";
import type { AnthropicOptions } from "./options.ts";

export const DEFAULT_BASE_URL = "https://api.anthropic.com";
export const NAMES = { key: "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN", baseUrl: "ANTHROPIC_BASE_URL" };
/** As the SDK sends it; a test compares the two. */
const ANTHROPIC_VERSION = "2026-10-21";

/**
 * The Messages API over plain HTTP. The SDK gives the types and, in a test, the measure of what is sent; loading
 * it would triple the time to the first request (docs/decisions/).
 * @throws {ModelError} `config` or `authentication` if the options make no sense.
 */
export async function createTransport(options: AnthropicOptions): Promise<Transport> {
  const base = checkedBaseUrl(options.baseURL || DEFAULT_BASE_URL, NAMES).href.replace(/\/+$/, "");
  const key = checkedKey(options.apiKey || options.authToken, NAMES) ?? noKey(NAMES);
  const headers = {
    accept: "application/json",
    "anthropic-version": ANTHROPIC_VERSION,
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "user-agent": options.userAgent ?? "linefeed",
  };
  const post = await loadPost(base, options.proxy);
  return (body, signal) => post({ url: `${base}/v1/messages`, headers, body: JSON.stringify(body), signal });
}
