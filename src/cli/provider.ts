import { AgentError } from "../protocol/errors.ts";
import { DEFAULTS } from "../run/defaults.ts";
import type { ProviderOptions } from "../run/options.ts";
import type { RunFlags } from "./flags.ts";
import { baseUrlOf, proxyOf } from "./endpoint.ts";
import { textFile } from "./text-file.ts";
import { nonEmpty } from "./values.ts";

/** Whom a command line can name. */
export type NamedProvider = Exclude<ProviderOptions, { name: "own" }>;

export interface ProviderChoice {
  provider: NamedProvider;
  model: string;
}

type Env = NodeJS.ProcessEnv;

/**
 * Whom to ask, and for which model: by the flags, else by the keys that are set.
 * @throws AgentError `usage` or `config`, naming the flag or variable.
 */
export async function chooseProvider(flags: RunFlags, env: Env): Promise<ProviderChoice> {
  if (flags.model !== undefined && flags.model.trim() === "")
    throw new AgentError("usage", "--model is empty");
  if (flags.fake !== undefined) return fakeProvider(flags, flags.fake);
  if (flags.replaySpeed !== undefined)
    throw new AgentError("usage", "--replay-speed is for a script: --fake file.json");
  const name = flags.provider ?? providerByKeys(env);
  switch (name) {
    case "fake":
      throw new AgentError("usage", "--provider fake needs a script: --fake file.json");
    case "openai": {
      const { openaiProvider } = await import("./openai-provider.ts");
      const baseUrl = baseUrlOf(flags, env, "OPENAI_BASE_URL");
      return openaiProvider({ model: flags.model, baseUrl, proxy: proxyOf(env) }, env);
    }
    case "anthropic":
      return {
        provider: anthropicProvider(flags, env),
        model: flags.model ?? nonEmpty(env["ANTHROPIC_MODEL"]) ?? DEFAULTS.model,
      };
    default:
      return name satisfies never;
  }
}

/** Anthropic, unless all that is set is for the other. */
function providerByKeys(env: Env): "anthropic" | "openai" {
  const isSet = (name: string) => nonEmpty(env[name]) !== undefined;
  if (["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"].some(isSet)) return "anthropic";
  return ["OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_BASE_URL"].some(isSet) ? "openai" : "anthropic";
}

async function fakeProvider(flags: RunFlags, file: string): Promise<ProviderChoice> {
  if (flags.provider !== undefined && flags.provider !== "fake")
    throw new AgentError("usage", `--fake and --provider ${flags.provider} exclude each other`);
  const json = textFile(file, "--fake");
  const { parseScript } = await import("../model/scripted/script.ts");
  const { replaySpeed } = await import("../model/scripted/speed.ts");
  const script = parseScript(json, file);
  const speed = flags.replaySpeed ?? replaySpeed(script);
  return { provider: { name: "fake", script, speed }, model: flags.model ?? script.model ?? "fake" };
}

function anthropicProvider(flags: RunFlags, env: Env): NamedProvider {
  const apiKey = nonEmpty(env["ANTHROPIC_API_KEY"]);
  const authToken = nonEmpty(env["ANTHROPIC_AUTH_TOKEN"]);
  if (apiKey === undefined && authToken === undefined) {
    throw new AgentError(
      "config",
      "there is no key: set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or for other models OPENAI_API_KEY or OPENROUTER_API_KEY; name a server on this machine with --provider openai --base-url, or play a script offline with --fake file.json",
    );
  }
  const baseUrl = baseUrlOf(flags, env, "ANTHROPIC_BASE_URL");
  return { name: "anthropic", apiKey, authToken, baseUrl, proxy: proxyOf(env) };
}
