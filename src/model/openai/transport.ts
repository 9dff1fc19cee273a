import { checkedBaseUrl, checkedKey, noKey, type SettingNames } from "../endpoint.ts";
import type { Transport } from "../http-call.ts";
import { loadPost } from "../http-post.ts";
import { isLoopback, isOpenRouter, OPENAI_URL } from "./address.ts";
import type { OpenAIOptions } from "./options.ts";

const COMPLETIONS = "/chat/completions";

/** How the key for an address is set. */
export function namesFor(baseURL: string): SettingNames {
  const key =
    URL.canParse(baseURL) && isOpenRouter(new URL(baseURL)) ? "OPENROUTER_API_KEY" : "OPENAI_API_KEY";
  return { key, baseUrl: "OPENAI_BASE_URL" };
}

/**
 * Chat Completions over plain HTTP.
 * @throws {ModelError} `config` or `authentication` if the options make no sense.
 */
export async function createTransport(options: OpenAIOptions): Promise<Transport> {
  const baseURL = options.baseURL || OPENAI_URL;
  const names = namesFor(baseURL);
  const base = checkedBaseUrl(baseURL, names);
  const key = checkedKey(options.apiKey, names);
  if (key === undefined && !isLoopback(base)) noKey(names);
  const headers = {
    accept: "text/event-stream",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    "content-type": "application/json",
    "user-agent": options.userAgent ?? "linefeed",
  };
  const url = completionsUrl(base);
  const post = await loadPost(url, options.proxy);
  return (body, signal) => post({ url, headers, body: JSON.stringify(body), signal });
}

/** Also from an address that was copied whole; what stands behind a `?` (Azure's `api-version`) stays there. */
function completionsUrl(base: URL): string {
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(COMPLETIONS) ? path : path + COMPLETIONS;
  return url.href;
}
