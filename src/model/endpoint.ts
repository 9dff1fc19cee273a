import { ModelError } from "./client.ts";
import { redactor } from "./http.ts";
import type { ProxyOptions } from "./http-post.ts";

/** How a person sets what a provider is told, for messages. */
export interface SettingNames {
  /** Where the key is set: `ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN`. */
  key: string;
  /** Where the address is set, beside `--base-url`. */
  baseUrl: string;
}

/** What a message about a call may need: where the request went, and a guard for the key. */
export interface ErrorContext {
  /** As in `ModelClient.provider`. */
  provider: string;
  /** Host and port of the provider. */
  host: string;
  model: string;
  names: SettingNames;
  /** Takes the key out of a text; to be applied before a text is shortened. */
  redact: (text: string) => string;
}

/**
 * The key, fit for a header; undefined if there is none.
 * @throws {ModelError} `config` if it is no key; the error of an HTTP library would quote it.
 */
export function checkedKey(given: string | undefined, names: SettingNames): string | undefined {
  const key = (given ?? "").trim();
  if (key === "") return undefined;
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ModelError("config", `the API key holds spaces or characters beyond ASCII; check ${names.key}`);
  }
  return key;
}

/** @throws {ModelError} `authentication`: there is no key. */
export function noKey(names: SettingNames): never {
  throw new ModelError("authentication", `no API key: set ${names.key}`);
}

/**
 * The address of an API, fit to be added to.
 * @throws {ModelError} `config` if it is none.
 */
export function checkedBaseUrl(given: string, names: SettingNames): URL {
  const url = parseUrl(given);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ModelError("config", `the base URL is no http(s) URL; check --base-url or ${names.baseUrl}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ModelError(
      "config",
      "the base URL holds a user name or password, which is not supported; check --base-url",
    );
  }
  return url;
}

/** Host and port of an address, for messages. */
export function hostOf(baseUrl: string): string {
  return parseUrl(baseUrl)?.host ?? "the provider";
}

/** A guard that takes keys, and the passwords of proxies, out of a text. */
export function keyRedactor(
  keys: readonly (string | undefined)[],
  proxy: ProxyOptions | undefined,
): (text: string) => string {
  const passwords = [proxy?.http, proxy?.https].map((url) => parseUrl(url ?? "")?.password);
  return redactor([...keys.map((key) => key?.trim()), ...passwords]);
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
