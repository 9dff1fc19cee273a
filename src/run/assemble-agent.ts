import { Agent } from "../agent/agent.ts";
import type { AskPermission } from "../agent/ask.ts";
import type { ModelClient } from "../model/client.ts";
import type { Tool } from "../tools/tool.ts";
import { createClient } from "./create-client.ts";
import type { Instructions } from "./instructions.ts";
import type { RunOptions } from "./options.ts";
import type { Recording } from "./recording.ts";
import type { RunSettings } from "./settings.ts";
import { systemPrompt } from "./system-prompt.ts";
import { definitionsOf, loadOffered, nameOfTool } from "./tool-set.ts";
import type { Workshop } from "./workshop.ts";

/** After this time the tools are loaded ahead of their first call: by then the request has left. In ms. */
const AHEAD_MS = 50;

export interface AgentParts {
  options: RunOptions;
  /** As they are when a turn begins, so they hold for it. */
  settings: Readonly<RunSettings>;
  workshop: Workshop;
  ask: AskPermission | undefined;
  /** As `Math.random`. */
  random: () => number;
  instructions: readonly Instructions[];
}

/** Loads what a run needs and puts it together. It comes after `init`, since it costs more than that line. */
export async function assembleAgent({
  options,
  settings,
  workshop,
  ask,
  random,
  instructions,
}: AgentParts): Promise<{ agent: Agent; recording: Recording | undefined }> {
  const client = await createClient(options.provider, options.debug);
  const recording = await openRecording(client, options, workshop);
  const names = options.tools.map(nameOfTool);
  const definitions = definitionsOf(options.tools);
  const agent = new Agent({
    client: recording?.client ?? client,
    request: () => ({
      model: settings.model,
      system: systemPrompt({ ...settings, cwd: options.cwd, tools: names }, instructions),
      tools: definitions,
      maxTokens: options.maxTokens,
      effort: options.effort,
      thinking: options.thinking,
    }),
    runner: {
      tools: toolLoader(options.tools),
      policy: workshop.policy,
      ask,
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
  // A failure is met again, and told, by whoever needs them.
  const loadAhead = () => void Promise.all([load(), import("../agent/tool-calls.ts")]).catch(() => undefined);
  setTimeout(loadAhead, AHEAD_MS).unref();
  return load;
}
