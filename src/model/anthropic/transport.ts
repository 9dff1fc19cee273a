import type Anthropic from "@anthropic-ai/sdk";
import { ModelError } from "../client.ts";

/** Where and as whom to ask. Nothing is taken from the environment or from files. */
export interface AnthropicOptions {
  /** Either a key or a token is needed; the key wins. */
  apiKey?: string | undefined;
  authToken?: string | undefined;
  /** Default `https://api.anthropic.com`. */
  baseURL?: string | undefined;
  /** The values of HTTP_PROXY, HTTPS_PROXY and NO_PROXY, where a proxy is to be used. */
  proxy?: ProxyOptions | undefined;
}

export interface ProxyOptions {
  http?: string | undefined;
  https?: string | undefined;
  noProxy?: string | undefined;
}

/** Sends one request body. */
export interface Transport {
  /**
   * The answer, once its head has come.
   * @throws an `APIError` of the SDK for a status that is no success and for a failed connection.
   */
  send(body: Anthropic.MessageCreateParamsStreaming, signal: AbortSignal): Promise<Response>;
  APIError: typeof Anthropic.APIError;
}

export const DEFAULT_BASE_URL = "https://api.anthropic.com";
// The longest a timer can be: how long to wait is decided by the loop's idle time-out, not here.
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const OWN_HEADERS = /^(accept|anthropic-version|content-type|user-agent|x-stainless-.*)$/;

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

/**
 * Loads the SDK and makes a client of it.
 * @throws {ModelError} `config` if the options make no sense.
 */
export async function createTransport(options: AnthropicOptions): Promise<Transport> {
  const secret = credential(options);
  const [{ default: AnthropicClient }, net] = await Promise.all([
    import("@anthropic-ai/sdk"),
    options.proxy ? proxied(options.proxy) : { fetch: globalThis.fetch },
  ]);
  const client = new AnthropicClient({
    // A credential that is given keeps the SDK from looking for others, in variables and profile files.
    ...(options.apiKey ? { apiKey: secret } : { authToken: secret }),
    baseURL: baseUrl(options.baseURL),
    webhookKey: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    // Both, since ANTHROPIC_LOG=debug would otherwise print on stdout.
    logLevel: "off",
    logger: silent,
    openTelemetry: false,
    // ANTHROPIC_CUSTOM_HEADERS is added by the SDK without asking; it may even replace the credential.
    fetch: (input, init) => net.fetch(input, { ...init, headers: ownHeaders(init?.headers, secret) }),
  });
  return {
    APIError: AnthropicClient.APIError,
    // Not `messages.create`, which warns of old models by console.warn, past every logger.
    send: (body, signal) => client.post("/v1/messages", { body, signal, stream: true }).asResponse(),
  };
}

function ownHeaders(headers: RequestInit["headers"], secret: string): Record<string, string> {
  const own = [...new Headers(headers)].filter(([name]) => OWN_HEADERS.test(name));
  return { ...Object.fromEntries(own), authorization: `Bearer ${secret}` };
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

async function proxied({ http, https, noProxy }: ProxyOptions): Promise<{ fetch: typeof globalThis.fetch }> {
  const undici = await import("undici");
  const settings = { httpProxy: http ?? "", httpsProxy: https ?? "", noProxy: noProxy ?? "" };
  let dispatcher: InstanceType<typeof undici.EnvHttpProxyAgent>;
  try {
    dispatcher = new undici.EnvHttpProxyAgent({ ...settings, headersTimeout: 0, bodyTimeout: 0 });
  } catch {
    throw new ModelError("config", "the proxy is no http(s) URL; check HTTP_PROXY and HTTPS_PROXY");
  }
  // undici's `fetch` is the one that Node carries, in a later version; only their types differ.
  const fetch = undici.fetch as unknown as (input: unknown, init: object) => Promise<Response>;
  return { fetch: (input, init) => fetch(input, { ...init, dispatcher }) };
}
