import type { EventBodyOf } from "../protocol/event.ts";
import { PROTOCOL_VERSION } from "../protocol/version.ts";
import type { ProviderOptions, RunOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** What a run says of itself first. */
export function initOf(options: RunOptions): EventBodyOf<"init"> {
  const { model, provider, cwd, tools, permissionMode, session } = options;
  return {
    type: "init",
    protocol: PROTOCOL_VERSION,
    version: VERSION,
    model,
    provider: providerName(provider),
    cwd,
    // Not by tool-set.ts, which loads what the model is told of them.
    tools: tools.map((tool) => (typeof tool === "string" ? tool : tool.name)),
    permission_mode: permissionMode,
    resumed: session.nextSeq > 1,
    ...(session.forkedFrom ? { forked_from: session.forkedFrom } : {}),
  };
}

/** As the first line names it. */
export function providerName(provider: ProviderOptions): string {
  return provider.name === "own" ? provider.client.provider : provider.name;
}
