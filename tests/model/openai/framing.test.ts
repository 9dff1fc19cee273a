import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createOpenAIClient } from "../../../src/model/openai/client.ts";
import { chatAnswer, chatChunk, type FakeAnswer } from "../../../src/testing/index.ts";
import { askAll, essence } from "../../support/model-calls.ts";
import { ask, KEY } from "./support.ts";

const chunk = (delta: object, finish_reason: string | null = null) =>
  chatChunk({ id: "c", choices: [{ index: 0, delta, finish_reason }] });
/** As short as it can be, since it is sent once for each of its bytes. */
const SHORT =
  chunk({ content: "≤🦊" }) +
  chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "Bash", arguments: '{"a":"字"}' } }] }) +
  chunk({}, "tool_calls") +
  "data: [DONE]\n\n";

const askEach = (answers: readonly FakeAnswer[]) =>
  askAll(answers, (url) => createOpenAIClient({ apiKey: KEY, baseURL: url }));

describe("the bytes of an answer", () => {
  it.each([
    ["LF", SHORT],
    ["CRLF", SHORT.replaceAll("\n", "\r\n")],
  ])("FR-05, PR-10: %s line ends, cut at every position", async (_, stream) => {
    const expected = essence(await ask(SHORT));
    expect(expected).toMatchObject({
      text: "≤🦊",
      content: [{ text: "≤🦊" }, { id: "a", input: { a: "字" } }],
    });
    const positions = [...Buffer.from(stream).keys()].slice(1);
    const outcomes = await askEach(
      positions.map((position) => ({ steps: [stream], cutAt: [position], pause: 1 })),
    );
    for (const outcome of outcomes) expect(outcome).toEqual(expected);
  });

  it("FR-05, PR-10, PR-11, PR-12: byte by byte, with every kind of line end and a byte order mark", async () => {
    const expected = essence(await ask(SHORT));
    const variants = [
      SHORT,
      SHORT.replaceAll("\n", "\r\n"),
      SHORT.replaceAll("\n", "\r"),
      SHORT.replaceAll("}\n\n", "}\r\n\n"),
      `\uFEFF${SHORT}`,
    ];
    const outcomes = await askEach(variants.map((stream) => ({ steps: [stream], cutEvery: 1 })));
    for (const outcome of outcomes) expect(outcome).toEqual(expected);
  });

  it("PR-13: any text in deltas of any size, cut anywhere, is what the provider meant", async () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(text, fc.nat({ max: 9 }), fc.nat({ max: 99 }), async (text, deltaSize, cutEvery) => {
        const stream = chatAnswer({ deltaSize: deltaSize + 1 })
          .thinking(text)
          .text(text)
          .toolCall("Bash", { [text]: text })
          .done();
        const outcome = await ask({ steps: [stream], cutEvery: cutEvery + 5 });
        expect([outcome.thinking, outcome.text]).toEqual([text, text]);
        const [, , call] = outcome.done?.content ?? [];
        expect(call).toMatchObject({ input: JSON.parse(outcome.toolInput) });
      }),
      { numRuns: 40 },
    );
  });

  it("PR-06: a stream closed anywhere before its finish reason is interrupted, never half an answer", async () => {
    const bytes = Buffer.from(SHORT);
    // The end is there once the JSON with the finish reason is, even if the blank line after it is not.
    const complete = bytes.indexOf('"tool_calls"}]}') + '"tool_calls"}]}'.length;
    const cuts = [...bytes.keys()].filter((cut) => cut % 3 === 0 || Math.abs(cut - complete) < 3);
    const outcomes = await askEach(cuts.map((cut) => ({ steps: [{ bytes: bytes.subarray(0, cut) }] })));
    const ends = outcomes.map(({ error, content }) =>
      error ? [error.code, error.retryable] : content?.length,
    );
    expect(ends).toEqual(cuts.map((cut) => (cut >= complete ? 2 : ["stream_interrupted", true])));
  });
});
