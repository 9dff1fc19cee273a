import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnthropicClient } from "../../src/model/anthropic/client.ts";
import type { ModelClient } from "../../src/model/client.ts";
import { createOpenAIClient } from "../../src/model/openai/client.ts";
import { answer, chatAnswer, chatChunk, type FakeAnswer } from "../../src/testing/index.ts";
import { collect, request, withProvider, type Outcome } from "../support/model-calls.ts";

// However the bytes of an answer arrive, it is the same answer.

interface Dialect {
  client(url: string): ModelClient;
  /** An answer `≤🦊` with a call, as short as it can be, since it is sent once for each of its bytes. */
  short: string;
  /** What of it makes it complete. */
  end: string;
  /** Thinking, text and the arguments of a call, all of one text. */
  whole(text: string, deltaSize: number): string;
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  chatChunk({ id: "c", choices: [{ index: 0, delta, finish_reason }] });

const DIALECTS: Record<string, Dialect> = {
  anthropic: {
    client: (url) => createAnthropicClient({ apiKey: "sk-test-1234", baseURL: url }),
    short: answer({ id: "msg_s", deltaSize: 2 }).text("≤🦊").toolUse("Bash", { a: "字" }).done(),
    end: '"message_stop"}',
    whole: (text, deltaSize) =>
      answer({ deltaSize })
        .thinking(text)
        .text(text)
        .toolUse("Bash", { [text]: text })
        .done(),
  },
  openai: {
    client: (url) => createOpenAIClient({ baseURL: url }),
    short:
      chunk({ content: "≤🦊" }) +
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "Bash", arguments: '{"a":"字"}' } }] }) +
      chunk({}, "tool_calls") +
      "data: [DONE]\n\n",
    end: '"tool_calls"}]}',
    whole: (text, deltaSize) =>
      chatAnswer({ deltaSize })
        .thinking(text)
        .text(text)
        .toolCall("Bash", { [text]: text })
        .done(),
  },
};

/** What must not depend on how the bytes arrive. */
function essence({ text, toolInput, done, error, notices }: Outcome) {
  return {
    text,
    toolInput,
    notices,
    error,
    content: done?.content,
    stopReason: done?.stopReason,
    usage: done?.usage,
  };
}

describe.each(Object.entries(DIALECTS))(
  "the bytes of an answer of %s",
  (_, { client, short, end, whole }) => {
    /** One call for each answer, on one client. */
    async function askAll(answers: readonly FakeAnswer[]): Promise<Outcome[]> {
      return withProvider(answers, async ({ url }) => {
        const asked = client(url);
        const outcomes: Outcome[] = [];
        for (const _ of answers) {
          const stream = asked.stream(request({ thinking: "summarized" }), new AbortController().signal);
          outcomes.push(await collect(stream));
        }
        return outcomes;
      });
    }

    const expected = async () => essence((await askAll([{ steps: [short] }]))[0] ?? expect.fail());

    it.each([
      ["LF", short],
      ["CRLF", short.replaceAll("\n", "\r\n")],
    ])("FR-05, PR-10: %s line ends, cut at every position", async (_, stream) => {
      const right = await expected();
      expect(right).toMatchObject({ text: "≤🦊", content: [{ text: "≤🦊" }, { input: { a: "字" } }] });
      const positions = [...Buffer.from(stream).keys()].slice(1);
      const outcomes = await askAll(
        positions.map((position) => ({ steps: [stream], cutAt: [position], pause: 1 })),
      );
      for (const outcome of outcomes) expect(essence(outcome)).toEqual(right);
    });

    it("FR-05, PR-10, PR-11, PR-12: byte by byte, with every kind of line end and a byte order mark", async () => {
      const right = await expected();
      const variants = [
        short,
        short.replaceAll("\n", "\r\n"),
        short.replaceAll("\n", "\r"),
        short.replaceAll("}\n\n", "}\r\n\n"),
        `\uFEFF${short}`,
      ];
      const outcomes = await askAll(variants.map((stream) => ({ steps: [stream], cutEvery: 1 })));
      for (const outcome of outcomes) expect(essence(outcome)).toEqual(right);
    });

    it("PR-13: whatever text in deltas of whatever size, cut anywhere, is what the provider meant", async () => {
      const anyText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 });
      await fc.assert(
        fc.asyncProperty(
          anyText,
          fc.nat({ max: 9 }),
          fc.nat({ max: 99 }),
          async (text, deltaSize, cutEvery) => {
            const [outcome] = await askAll([{ steps: [whole(text, deltaSize + 1)], cutEvery: cutEvery + 5 }]);
            expect([outcome?.thinking, outcome?.text]).toEqual([text, text]);
            const [, , call] = outcome?.done?.content ?? [];
            expect(call).toMatchObject({ input: JSON.parse(outcome?.toolInput ?? "") });
          },
        ),
        { numRuns: 40 },
      );
    });

    it("PR-06: a stream closed anywhere before its end is interrupted, never half an answer", async () => {
      const bytes = Buffer.from(short);
      // The end is there once its JSON is, even if the blank line after it is not.
      const complete = bytes.indexOf(end) + end.length;
      const cuts = [...bytes.keys()].filter((cut) => cut % 3 === 0 || Math.abs(cut - complete) <= 3);
      const outcomes = await askAll(cuts.map((cut) => ({ steps: [{ bytes: bytes.subarray(0, cut) }] })));
      const ends = outcomes.map(({ error, done }) =>
        error ? [error.code, error.retryable] : done?.content.length,
      );
      expect(ends).toEqual(cuts.map((cut) => (cut >= complete ? 2 : ["stream_interrupted", true])));
    });
  },
);
