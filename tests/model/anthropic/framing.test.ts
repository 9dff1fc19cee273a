import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnthropicClient } from "../../../src/model/anthropic/client.ts";
import { answer, type FakeAnswer } from "../../../src/testing/index.ts";
import { askAll, essence } from "../../support/model-calls.ts";
import { ask, KEY } from "./support.ts";

const SHORT = answer({ id: "msg_s", deltaSize: 2 }).text("≤🦊").toolUse("Bash", { a: "字" }).done();

const askEach = (answers: readonly FakeAnswer[]) =>
  askAll(answers, (url) => createAnthropicClient({ apiKey: KEY, baseURL: url }));

describe("the bytes of an answer", () => {
  it.each([
    ["LF", SHORT],
    ["CRLF", SHORT.replaceAll("\n", "\r\n")],
  ])("FR-05, PR-10: %s line ends, cut at every position", async (_, stream) => {
    const expected = essence(await ask(SHORT));
    expect(expected).toMatchObject({ text: "≤🦊", content: [{ text: "≤🦊" }, { input: { a: "字" } }] });
    const positions = [...Buffer.from(stream).keys()].slice(1);
    const outcomes = await askEach(
      positions.map((position) => ({ steps: [stream], cutAt: [position], pause: 1 })),
    );
    for (const outcome of outcomes) expect(outcome).toEqual(expected);
  });

  it("FR-05, PR-10, PR-11, PR-12: byte by byte, with every kind of line end and a byte order mark", async () => {
    const expected = essence(await ask(SHORT));
    const mixed = SHORT.replaceAll("}\n\n", "}\r\n\n");
    const variants = [
      SHORT,
      SHORT.replaceAll("\n", "\r\n"),
      SHORT.replaceAll("\n", "\r"),
      mixed,
      `\uFEFF${SHORT}`,
    ];
    const outcomes = await askEach(variants.map((stream) => ({ steps: [stream], cutEvery: 1 })));
    for (const outcome of outcomes) expect(outcome).toEqual(expected);
  });

  it("any text in deltas of any size, cut anywhere, is what the provider meant", async () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(text, fc.nat({ max: 9 }), fc.nat({ max: 99 }), async (text, deltaSize, cutEvery) => {
        const stream = answer({ deltaSize: deltaSize + 1 })
          .thinking(text)
          .text(text)
          .toolUse("T", { [text]: text })
          .done();
        const outcome = await ask({ steps: [stream], cutEvery: cutEvery + 5 });
        expect([outcome.thinking, outcome.text]).toEqual([text, text]);
        const [, , call] = outcome.done?.content ?? [];
        expect(call).toMatchObject({ input: JSON.parse(outcome.toolInput) });
      }),
      { numRuns: 40 },
    );
  });

  it("PR-06: a stream closed anywhere before its end is interrupted, never half an answer", async () => {
    const bytes = Buffer.from(SHORT);
    // The end is there once its JSON is, even if the blank line after it is not.
    const complete = bytes.length - "\n\n".length;
    const cuts = [...bytes.keys()].filter((cut) => cut % 3 === 0 || cut >= complete - 3);
    const outcomes = await askEach(cuts.map((cut) => ({ steps: [{ bytes: bytes.subarray(0, cut) }] })));
    const ends = outcomes.map(({ error, content }) =>
      error ? [error.code, error.retryable] : content?.length,
    );
    expect(ends).toEqual(cuts.map((cut) => (cut >= complete ? 2 : ["stream_interrupted", true])));
  });
});
