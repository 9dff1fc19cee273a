import { describe, expect, it } from "vitest";
import { createAnthropicClient } from "../../src/model/anthropic/client.ts";
import type { ModelClient } from "../../src/model/client.ts";
import { createOpenAIClient } from "../../src/model/openai/client.ts";
import { createScriptedClient } from "../../src/model/scripted/client.ts";
import { parseScript, type ScriptAnswer } from "../../src/model/scripted/script.ts";
import { answer, chatAnswer, type FakeAnswer } from "../../src/testing/index.ts";
import { collect, request, withProvider } from "../support/model-calls.ts";

// The contract in src/model/client.ts, asked of every provider.

/** What a model says in this suite, in each provider's own words. */
interface Part {
  scripted: ScriptAnswer | string;
  anthropic: FakeAnswer | string;
  openai: FakeAnswer | string;
}

const INPUT = { command: "echo ≤🦊" };
const WHOLE: Part = {
  scripted: {
    content: [
      { type: "thinking", thinking: "Let me see" },
      { type: "text", text: "Hello ≤ 🦊" },
      { type: "tool_use", name: "Bash", input: INPUT },
      { type: "tool_use", name: "Bash", input: {} },
    ],
  },
  anthropic: answer({ deltaSize: 3 })
    .thinking("Let me see", "")
    .text("Hello ≤ 🦊")
    .toolUse("Bash", INPUT)
    .toolUse("Bash", {})
    .done(),
  openai: chatAnswer({ deltaSize: 3 })
    .thinking("Let me see")
    .text("Hello ≤ 🦊")
    .toolCall("Bash", INPUT)
    .toolCall("Bash", {})
    .done(),
};
const BROKEN: Part = {
  scripted: {
    content: [{ type: "text", text: "Hello" }],
    fault: { code: "overloaded", retryable: true, after_characters: 5 },
  },
  anthropic: answer().text("Hello").error("overloaded_error", "busy"),
  openai: chatAnswer().text("Hello").error({ message: "busy", code: 503 }),
};
const STALLED: Part = {
  scripted: { content: [{ type: "text", text: "Hello" }], stall: true },
  anthropic: { steps: [answer().text("Hello").unfinished(), { stall: true }] },
  openai: { steps: [chatAnswer().text("Hello").unfinished(), { stall: true }] },
};

type Use = (client: ModelClient, asked: () => number) => Promise<void>;

const PROVIDERS: Record<string, (part: Part, use: Use) => Promise<void>> = {
  anthropic: ({ anthropic }, use) =>
    withProvider([anthropic], ({ url, requests }) =>
      use(createAnthropicClient({ apiKey: "sk-test-1234", baseURL: url }), () => requests.length),
    ),
  openai: ({ openai }, use) =>
    withProvider([openai], ({ url, requests }) =>
      use(createOpenAIClient({ baseURL: url }), () => requests.length),
    ),
  fake: ({ scripted }, use) =>
    use(createScriptedClient(parseScript(JSON.stringify({ answers: [scripted] }), "test")), () => 0),
};

describe.each(Object.entries(PROVIDERS))("%s", (name, using) => {
  const stream = (client: ModelClient, signal = new AbortController().signal) =>
    client.stream(request({ thinking: "summarized" }), signal);

  it("has its name", () => using(WHOLE, async (client) => expect(client.provider).toBe(name)));

  it("is lazy", () =>
    using(WHOLE, async (client, asked) => {
      stream(client);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(asked()).toBe(0);
    }));

  it("says in deltas what the message holds, block by block, and `done` once and last", () =>
    using(WHOLE, async (client) => {
      const { chunks, done } = await collect(stream(client));
      expect(chunks.filter(({ type }) => type === "done")).toHaveLength(1);
      const written = new Map<number, string>();
      for (const chunk of chunks) {
        if (chunk.type !== "text" && chunk.type !== "thinking" && chunk.type !== "tool_input") continue;
        const piece = chunk.type === "tool_input" ? chunk.partialJson : chunk.text;
        expect(piece).not.toBe("");
        written.set(chunk.block, (written.get(chunk.block) ?? "") + piece);
        if (chunk.type === "tool_input") {
          expect(done?.content[chunk.block]).toMatchObject({ id: chunk.toolUseId, name: chunk.name });
        }
      }
      expect(done?.content).toMatchObject([
        { type: "thinking", thinking: written.get(0) },
        { type: "text", text: written.get(1) },
        { type: "tool_use", input: JSON.parse(written.get(2) ?? "") as unknown },
        { type: "tool_use", input: {} },
      ]);
      expect([written.get(0), written.get(1), JSON.parse(written.get(2) ?? "")]).toEqual([
        "Let me see",
        "Hello ≤ 🦊",
        INPUT,
      ]);
      expect(done).toMatchObject({
        stopReason: "tool_use",
        model: expect.any(String),
        requestId: expect.any(String),
      });
      expect(done?.usage?.output_tokens).toBeGreaterThan(0);
      const ids = done?.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      expect(new Set(ids).size).toBe(2);
    }));

  it("fails as a typed error, after what was said before", () =>
    using(BROKEN, async (client) => {
      const { text, done, error } = await collect(stream(client));
      expect([text, done]).toEqual(["Hello", undefined]);
      expect(error).toMatchObject({ code: "overloaded", retryable: true });
    }));

  it("stops soon when the signal aborts, in silence too", () =>
    using(STALLED, async (client) => {
      const controller = new AbortController();
      const chunks = stream(client, controller.signal);
      expect((await chunks.next()).value?.[0]).toMatchObject({ type: "text", block: 0 });
      setTimeout(() => controller.abort(new Error("enough")), 20);
      await expect(
        (async () => {
          for await (const _ of chunks);
        })(),
      ).rejects.toBeInstanceOf(Error);
    }));

  it("can be left early", () =>
    using(STALLED, async (client) => {
      const chunks = stream(client);
      for await (const _ of chunks) break;
      expect(await chunks.next()).toEqual({ done: true, value: undefined });
    }));
});
