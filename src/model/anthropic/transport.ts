import type Anthropic from "@anthropic-ai/sdk";
import { ModelError } from "../client.ts";
import { loadPost, type Post, type PostAnswer } from "../http-post.ts";
import type { AnthropicOptions } from "./options.ts";

/** Sends one request body; resolves once the head of the answer has come. */
export type Transport = (
  body: Anthropic.MessageCreateParamsStreaming,
  signal: AbortSignal,
) => Promise<PostAnswer>;

export const DEFAULT_BASE_URL = "https://api.anthropic.com";
/** As the SDK sends it; a test compares the two. */
const ANTHROPIC_VERSION = "2026-10-21";

/**
 * The Messages API over plain HTTP. The SDK gives the types and, in a test, the measure of what is sent; loading
 * it would triple the time to the first request (docs/decisions/).
 * @throws {ModelError} `config` or `authentication` if the options make no sense.
 */
export async function createTransport(options: AnthropicOptions): Promise<Transport> {
  const base = baseUrl(options.baseURL);
  const headers = {
    accept: "application/json",
    "anthropic-version": ANTHROPIC_VERSION,
    authorization: `Bearer ${credential(options)}`,
    "content-type": "application/json",
    "user-agent": options.userAgent ?? "linefeed",
  };
  const post: Post = await loadPost(base, options.proxy);
  return (body, signal) => post({ url: `${base}/v1/messages`, headers, body: JSON.stringify(body), signal });
}

function credential({ apiKey, authToken }: AnthropicOptions): string {
  const secret = (apiKey || authToken || "").trim();
  if (secret === "") {
    throw new ModelError("authentication", "no API key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN");
  }
  // Checked here, since the error of the HTTP library would quote the key.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new ModelError(
      "config",
      "the API key holds spaces or characters beyond ASCII; check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
    );
  }
  return secret;
}

function baseUrl(given: string | undefined): string {
  const url = parseUrl(given || DEFAULT_BASE_URL);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ModelError("config", "the base URL is no http(s) URL; check --base-url or ANTHROPIC_BASE_URL");
  }
  if (url.username !== "" || url.password !== "") {
    throw new ModelError(
      "config",
      "the base URL holds a user name or password, which is not supported; check --base-url",
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** Host and port of the provider, for messages. */
export function hostOf(baseURL: string | undefined): string {
  return parseUrl(baseURL || DEFAULT_BASE_URL)?.host ?? "the provider";
}

/** What must not occur in any message. */
export function secretsOf({ apiKey, authToken, proxy }: AnthropicOptions): (string | undefined)[] {
  const passwords = [proxy?.http, proxy?.https].map((url) => parseUrl(url ?? "")?.password);
  return [apiKey?.trim(), authToken?.trim(), ...passwords];
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
