import { Agent } from "../agent/agent.ts";
import { loadTools, toolDefinition } from "../tools/registry.ts";
import { createClient } from "./create-client.ts";
import type { RunOptions } from "./options.ts";
import { systemPrompt } from "./system-prompt.ts";
import type { Workshop } from "./workshop.ts";

/** Loads what a run needs and puts it together. It comes after `init`, since it costs more than that line. */
export async function createAgent(
  options: RunOptions,
  workshop: Workshop,
  random: () => number,
): Promise<Agent> {
  const [client, tools] = await Promise.all([createClient(options.provider), loadTools(options.tools)]);
  return new Agent({
    client,
    request: {
      model: options.model,
      system: systemPrompt(options),
      tools: tools.map(toolDefinition),
      maxTokens: options.maxTokens,
      effort: options.effort,
      thinking: options.thinking,
    },
    runner: { tools, policy: workshop.policy, context: workshop.context },
    limits: { maxSteps: options.maxSteps, maxBudgetTokens: options.maxBudgetTokens },
    call: {
      maxRetries: options.maxRetries,
      idleTimeoutMs: options.idleTimeoutMs,
      includeToolInput: options.includeToolInput,
      random,
    },
  });
}
