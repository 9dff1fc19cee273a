import type { ModelClient } from "../model/client.ts";
import type { ProviderOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** The client of a provider. Each adapter is loaded on use: a provider's library costs more than all of ours. */
export async function createClient(provider: ProviderOptions): Promise<ModelClient> {
  switch (provider.name) {
    case "anthropic": {
      const { createAnthropicClient } = await import("../model/anthropic/client.ts");
      const client = createAnthropicClient({
        apiKey: provider.apiKey,
        authToken: provider.authToken,
        baseURL: provider.baseUrl,
        proxy: provider.proxy,
        userAgent: `linefeed/${VERSION}`,
      });
      await client.preload();
      return client;
    }
    case "fake": {
      const { createScriptedClient } = await import("../model/scripted/client.ts");
      return createScriptedClient(provider.script);
    }
    default:
      return provider satisfies never;
  }
}
