import { Agent } from "../agent/agent.ts";
import type { ModelClient } from "../model/client.ts";
import type { Tool } from "../tools/tool.ts";
import { createClient } from "./create-client.ts";
import type { Instructions } from "./instructions.ts";
import type { RunOptions } from "./options.ts";
import type { Recording } from "./recording.ts";
import { systemPrompt } from "./system-prompt.ts";
import { definitionsOf, loadOffered, nameOfTool } from "./tool-set.ts";
import type { Workshop } from "./workshop.ts";

/** After this time the tools are loaded ahead of their first call: by then the request has left. In ms. */
const AHEAD_MS = 50;

/** Loads what a run needs and puts it together. It comes after `init`, since it costs more than that line. */
export async function assembleAgent(
  options: RunOptions,
  workshop: Workshop,
  random: () => number,
  instructions: readonly Instructions[],
): Promise<{ agent: Agent; recording: Recording | undefined }> {
  const client = await createClient(options.provider, options.debug);
  const recording = await openRecording(client, options, workshop);
  const agent = new Agent({
    client: recording?.client ?? client,
    request: {
      model: options.model,
      system: systemPrompt({ ...options, tools: options.tools.map(nameOfTool) }, instructions),
      tools: definitionsOf(options.tools),
      maxTokens: options.maxTokens,
      effort: options.effort,
      thinking: options.thinking,
    },
    runner: {
      tools: toolLoader(options.tools),
      policy: workshop.policy,
      context: workshop.context,
      // Which of several reads is first to begin or to end is chance.
      ...(options.deterministic ? { sideBySide: 1 } : {}),
    },
    conversation: options.session.conversation,
    limits: options,
    call: {
      maxRetries: options.maxRetries,
      idleTimeoutMs: options.idleTimeoutMs,
      includeToolInput: options.includeToolInput,
      random,
    },
  });
  return { agent, recording };
}

async function openRecording(
  client: ModelClient,
  { record, provider }: RunOptions,
  { context }: Workshop,
): Promise<Recording | undefined> {
  if (record === undefined) return undefined;
  const { Recording } = await import("./recording.ts");
  return new Recording(client, { path: record, provider, now: () => context.clock.now() });
}

/** Loads the tools once: ahead, while the model is being waited for, or at the latest for their first call. */
function toolLoader(tools: RunOptions["tools"]): () => Promise<readonly Tool[]> {
  let loading: Promise<readonly Tool[]> | undefined;
  const load = () => (loading ??= loadOffered(tools));
  // A failure is met again, and told, by whoever needs the tools.
  const loadAhead = () => void load().catch(() => undefined);
  setTimeout(loadAhead, AHEAD_MS).unref();
  return load;
}
