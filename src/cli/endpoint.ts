import { AgentError } from "../protocol/errors.ts";
import type { Proxies } from "../run/options.ts";
import type { RunFlags } from "./flags.ts";
import { nonEmpty } from "./values.ts";

/**
 * The address that `--base-url`, else a variable, names.
 * @throws AgentError if it is no http(s) address.
 */
export function baseUrlOf(flags: RunFlags, env: NodeJS.ProcessEnv, variable: string): string | undefined {
  const [name, baseUrl] =
    flags.baseUrl === undefined ? [variable, nonEmpty(env[variable])] : ["--base-url", flags.baseUrl];
  if (baseUrl === undefined || isHttpUrl(baseUrl)) return baseUrl;
  const code = name === "--base-url" ? "usage" : "config";
  throw new AgentError(code, `${name} is "${baseUrl}", which is no http or https address`);
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** The proxies that the environment names, if any. */
export function proxyOf(env: NodeJS.ProcessEnv): Proxies | undefined {
  const http = nonEmpty(env["http_proxy"]) ?? nonEmpty(env["HTTP_PROXY"]);
  const https = nonEmpty(env["https_proxy"]) ?? nonEmpty(env["HTTPS_PROXY"]);
  if (http === undefined && https === undefined) return undefined;
  return { http, https, noProxy: nonEmpty(env["no_proxy"]) ?? nonEmpty(env["NO_PROXY"]) };
}
