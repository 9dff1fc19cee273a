import { isLoopback, isOpenRouter, OPENAI_URL, OPENROUTER_URL } from "../model/openai/address.ts";
import { AgentError } from "../protocol/errors.ts";
import type { Proxies } from "../run/options.ts";
import type { ProviderChoice } from "./provider.ts";
import { nonEmpty } from "./values.ts";

/** What the command line says of a provider. */
interface Given {
  model: string | undefined;
  baseUrl: string | undefined;
  proxy: Proxies | undefined;
}

/**
 * OpenAI, or the server of its dialect that the address names.
 * @throws AgentError `config`, naming the variable that is missing.
 */
export function openaiProvider(given: Given, env: NodeJS.ProcessEnv): ProviderChoice {
  const openaiKey = nonEmpty(env["OPENAI_API_KEY"]);
  const openrouterKey = nonEmpty(env["OPENROUTER_API_KEY"]);
  const standard = openaiKey === undefined && openrouterKey !== undefined ? OPENROUTER_URL : OPENAI_URL;
  const baseUrl = given.baseUrl ?? standard;
  const url = new URL(baseUrl);
  // OpenRouter's key is for OpenRouter alone; the other goes wherever it is told to.
  const apiKey = isOpenRouter(url) ? (openrouterKey ?? openaiKey) : openaiKey;
  if (apiKey === undefined && !isLoopback(url)) {
    const name = isOpenRouter(url) ? "OPENROUTER_API_KEY" : "OPENAI_API_KEY";
    throw new AgentError("config", `there is no key for ${url.host}: set ${name}`);
  }
  const model = given.model ?? nonEmpty(env["OPENAI_MODEL"]);
  if (model === undefined) {
    throw new AgentError("config", `no model is named for ${url.host}: give --model or set OPENAI_MODEL`);
  }
  return { provider: { name: "openai", apiKey, baseUrl, proxy: given.proxy }, model };
}
