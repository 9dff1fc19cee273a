import { createAnthropicClient } from "../model/anthropic/client.ts";
import type { ModelClient } from "../model/client.ts";
import type { DebugLog } from "./debug-log.ts";
import type { ProviderOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** The client of a provider, ready for its first call. */
export async function createClient(
  provider: ProviderOptions,
  debug: DebugLog | undefined,
): Promise<ModelClient> {
  const trace = debug && ((text: string) => debug("http", text));
  switch (provider.name) {
    case "anthropic": {
      const client = createAnthropicClient({
        apiKey: provider.apiKey,
        authToken: provider.authToken,
        baseURL: provider.baseUrl,
        proxy: provider.proxy,
        userAgent: `linefeed/${VERSION}`,
        trace,
      });
      await client.preload();
      return client;
    }
    case "openai": {
      const { createOpenAIClient } = await import("../model/openai/client.ts");
      const client = createOpenAIClient({
        apiKey: provider.apiKey,
        baseURL: provider.baseUrl,
        proxy: provider.proxy,
        userAgent: `linefeed/${VERSION}`,
        trace,
      });
      await client.preload();
      return client;
    }
    case "fake": {
      const { createScriptedClient } = await import("../model/scripted/client.ts");
      return createScriptedClient(provider.script, { speed: provider.speed });
    }
    case "own":
      return provider.client;
    default:
      return provider satisfies never;
  }
}
