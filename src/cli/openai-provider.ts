import { isLoopback, isOpenRouter, OPENAI_URL, OPENROUTER_URL } from "../model/openai/address.ts";
import { AgentError } from "../protocol/errors.ts";
import type { RunFlags } from "./flags.ts";
import { baseUrlOf, proxyOf } from "./endpoint.ts";
import type { ProviderChoice } from "./provider.ts";
import { nonEmpty } from "./values.ts";

/**
 * OpenAI, or the server of its dialect that the address names.
 * @throws AgentError `usage` or `config`, naming the flag or variable.
 */
export function openaiProvider(flags: RunFlags, env: NodeJS.ProcessEnv): ProviderChoice {
  const openaiKey = nonEmpty(env["OPENAI_API_KEY"]);
  const openrouterKey = nonEmpty(env["OPENROUTER_API_KEY"]);
  const standard = openaiKey === undefined && openrouterKey !== undefined ? OPENROUTER_URL : OPENAI_URL;
  const baseUrl = baseUrlOf(flags, env, "OPENAI_BASE_URL") ?? standard;
  const url = new URL(baseUrl);
  // OpenRouter's key is for OpenRouter alone; the other goes wherever it is told to.
  const apiKey = isOpenRouter(url) ? (openrouterKey ?? openaiKey) : openaiKey;
  if (apiKey === undefined && !isLoopback(url)) {
    const name = isOpenRouter(url) ? "OPENROUTER_API_KEY" : "OPENAI_API_KEY";
    throw new AgentError("config", `there is no key for ${url.host}: set ${name}`);
  }
  const model = flags.model ?? nonEmpty(env["OPENAI_MODEL"]);
  if (model === undefined) {
    throw new AgentError("config", `no model is named for ${url.host}: --model, or OPENAI_MODEL`);
  }
  return { provider: { name: "openai", apiKey, baseUrl, proxy: proxyOf(env) }, model };
}
