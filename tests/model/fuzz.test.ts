import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnthropicClient } from "../../src/model/anthropic/client.ts";
import type { ModelClient } from "../../src/model/client.ts";
import { createOpenAIClient } from "../../src/model/openai/client.ts";
import { STOP_REASONS } from "../../src/protocol/words.ts";
import { answer, chatAnswer, type FakeAnswer } from "../../src/testing/index.ts";
import { collect, request, withProvider, type Outcome } from "../support/model-calls.ts";
import { damaged, damages } from "../support/mutate.ts";

// Whatever a provider sends, a call ends with an answer that was ended or with a typed error: `collect` rethrows all else.

interface Dialect {
  client(url: string): ModelClient;
  stream: string;
  /** Without one of these in its bytes no answer has an end. */
  ends: readonly string[];
}

const DIALECTS: Record<string, Dialect> = {
  anthropic: {
    client: (url) => createAnthropicClient({ apiKey: "sk-test-1234", baseURL: url }),
    stream: answer()
      .thinking("Hm, 漢字.", "sig")
      .text("Hello 🦊 \u2028.")
      .toolUse("Bash", { command: "ls" })
      .done(),
    ends: ["message_stop"],
  },
  openai: {
    client: (url) => createOpenAIClient({ baseURL: url }),
    stream: chatAnswer()
      .thinking("Hm, 漢字.")
      .text("Hello 🦊 \u2028.")
      .toolCall("Bash", { command: "ls" })
      .done(),
    ends: ["finish_reason", "[DONE]"],
  },
};

/** Against hanging only. */
const HUNG_MS = 30_000;

async function ask({ client }: Dialect, sent: FakeAnswer): Promise<Outcome> {
  return withProvider([sent], ({ url }) =>
    collect(client(url).stream(request({ thinking: "summarized" }), AbortSignal.timeout(HUNG_MS))),
  );
}

/** An answer or an error, never both and never neither; what counts as an answer is whole. */
function expectSound({ error, done, text }: Outcome): void {
  expect([error, done].filter(Boolean)).toHaveLength(1);
  if (!done) return;
  expect([...STOP_REASONS, null]).toContain(done.stopReason);
  const said = done.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  expect(said).toBe(text.toWellFormed());
  expect(JSON.stringify(done.content)).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
  for (const block of done.content) {
    if (block.type === "tool_use") expect(block.input).toBeTypeOf("object");
  }
}

describe.each(Object.entries(DIALECTS))("the parser of %s", (_, dialect) => {
  const bytes = Buffer.from(dialect.stream);

  it("takes any bytes, cut anywhere, for no answer", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 500 }),
        fc.integer({ min: 1, max: 50 }),
        async (any, cutEvery) => {
          const outcome = await ask(dialect, { steps: [{ bytes: any }], cutEvery });
          expect(outcome.error?.code).toMatch(/^(stream_interrupted|malformed_response)$/);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("gives of a damaged stream a sound answer or a typed error", async () => {
    await fc.assert(
      fc.asyncProperty(damages, fc.integer({ min: 1, max: 200 }), async (list, cutEvery) => {
        const sent = damaged(bytes, list);
        const outcome = await ask(dialect, { steps: [{ bytes: sent }], cutEvery });
        expectSound(outcome);
        const text = Buffer.from(sent).toString("latin1");
        if (!dialect.ends.some((end) => text.includes(end))) expect(outcome.done).toBeUndefined();
      }),
      { numRuns: 250 },
    );
  });

  it("takes any JSON in its frames", async () => {
    const frames = fc.array(
      fc.oneof(
        fc.jsonValue(),
        fc.record(
          {
            type: fc.constantFrom(
              "message_start",
              "content_block_start",
              "content_block_delta",
              "message_delta",
              "error",
            ),
            index: fc.jsonValue(),
            message: fc.jsonValue(),
            content_block: fc.jsonValue(),
            delta: fc.jsonValue(),
            usage: fc.jsonValue(),
            error: fc.jsonValue(),
            choices: fc.oneof(
              fc.jsonValue(),
              fc.array(fc.record({ index: fc.jsonValue(), delta: fc.jsonValue() })),
            ),
          },
          { requiredKeys: [] },
        ),
      ),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(frames, fc.boolean(), async (values, before) => {
        const strange = values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");
        const sent = before ? strange + dialect.stream : dialect.stream.replace("\n\n", `\n\n${strange}`);
        expectSound(await ask(dialect, { steps: [sent] }));
      }),
      { numRuns: 200 },
    );
  });
});
