import * as z from "zod";
import { Agent, type AgentOptions, type TurnOutcome } from "../../src/agent/agent.ts";
import { Conversation } from "../../src/agent/conversation.ts";
import type { ModelClient, ModelRequest } from "../../src/model/client.ts";
import { createScriptedClient } from "../../src/model/scripted/client.ts";
import type { Script } from "../../src/model/scripted/script.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import { systemClock } from "../../src/tools/clock.ts";
import type { Tool } from "../../src/tools/tool.ts";

/** A client that also keeps the requests that it was sent. */
export function recordingClient(script: Script): { client: ModelClient; requests: ModelRequest[] } {
  const inner = createScriptedClient(script);
  const requests: ModelRequest[] = [];
  return {
    requests,
    client: {
      provider: inner.provider,
      stream(request, signal) {
        requests.push({ ...request, messages: structuredClone(request.messages) });
        return inner.stream(request, signal);
      },
    },
  };
}

export interface TestInput {
  n?: number | undefined;
}

/** A tool whose runs are given by the test. */
export function testTool(name: string, run: Tool<TestInput>["run"], readOnly = false): Tool<TestInput> {
  return {
    name,
    description: name,
    input: z.object({ n: z.number().optional() }),
    readOnly,
    summary: (input) => `${name} ${input.n ?? ""}`,
    access: async () => ({ kind: "execute", command: name }),
    run,
  };
}

export const okResult = (content: string) =>
  ({ status: "ok", content, exitCode: 0, truncated: false, outputFile: null }) as const;

export function testAgent(client: ModelClient, tools: Tool[], more: Partial<AgentOptions> = {}): Agent {
  return new Agent({ ...testAgentOptions(client, tools), ...more });
}

export function testAgentOptions(client: ModelClient, tools: Tool[]): AgentOptions {
  return {
    client,
    request: () => ({
      model: "test",
      system: "",
      tools: [],
      maxTokens: 1000,
      effort: undefined,
      thinking: "off",
    }),
    runner: {
      tools: async () => tools,
      policy: { mode: "bypass", allow: [], deny: [], roots: ["/"], secretFolders: [] },
      context: {
        cwd: "/",
        clock: systemClock,
        timeoutMs: 60_000,
        outputDirectory: () => {
          throw new Error("no output folder in this test");
        },
        environment: {},
        processMark: "test",
        seenFiles: new Map(),
      },
    },
    conversation: new Conversation(),
    limits: { maxSteps: undefined, maxBudgetTokens: undefined },
    call: { maxRetries: 2, idleTimeoutMs: 60_000, includeToolInput: false, random: () => 0 },
  };
}

export async function collectTurn(
  agent: Agent,
  prompt = "hi",
  signal = new AbortController().signal,
): Promise<{ bodies: EventBody[]; outcome: TurnOutcome }> {
  const bodies: EventBody[] = [];
  const turn = agent.runTurn(prompt, signal);
  for (;;) {
    const next = await turn.next();
    if (next.done) return { bodies, outcome: next.value };
    bodies.push(next.value);
  }
}

export const kinds = (bodies: readonly EventBody[]) =>
  bodies.map((body) => body.type).filter((type) => !type.endsWith("_delta"));
