import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encode, encodeInPieces, encodeJson, isLong } from "../../src/emit/encode.ts";
import { createStamp } from "../../src/emit/stamp.ts";
import type { LinefeedEvent } from "../../src/protocol/event.ts";

const stamp = createStamp({ sessionId: "s", firstSeq: 1, date: () => new Date(0) });
const line = (text: string) => encode(stamp({ type: "text_delta", step: 1, block: 0, text }));

describe("encoding", () => {
  it("begins with type, seq, ts, session_id, in that order, and counts from the first number", () => {
    const count = createStamp({ sessionId: "s", firstSeq: 7, date: () => new Date(1) });
    const lines = ["a", "b"].map((text) => encode(count({ type: "text_delta", step: 1, block: 0, text })));
    expect(lines).toEqual([
      '{"type":"text_delta","seq":7,"ts":"1970-01-01T00:00:00.001Z","session_id":"s","step":1,"block":0,"text":"a"}\n',
      '{"type":"text_delta","seq":8,"ts":"1970-01-01T00:00:00.001Z","session_id":"s","step":1,"block":0,"text":"b"}\n',
    ]);
  });

  it("FR-01, FR-12: whatever a line splitter could take for a line end is escaped", () => {
    const characters = "\u2028\u2029\u0085\u000b\u000c\u001c\u001d\u001e\u007f\u009f\r\n\t\u0000\u001b\ufeff";
    const encoded = line(characters);
    expect(encoded.slice(0, -1)).toMatch(/^[\u0020-\u007e]*$/);
    expect((JSON.parse(encoded) as { text: string }).text).toBe(characters);
  });

  it("FR-06: a lone surrogate becomes U+FFFD, in values and keys; pairs stay", () => {
    expect(encodeJson({ "\ud83d": ["\ude00", "😀", "a\ud83db"] })).toBe(
      '{"\uFFFD":["\uFFFD","😀","a\uFFFDb"]}',
    );
  });

  it("FR-08: a literally typed escape is left alone", () => {
    const typed = String.raw`\u0000 \ud83d \\ud83d`;
    expect((JSON.parse(line(typed)) as { text: string }).text).toBe(typed);
  });

  it("gives back any well-formed text, on one line by any splitter's count", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const encoded = line(text);
        expect((JSON.parse(encoded) as { text: string }).text).toBe(text.toWellFormed());
        expect(encoded.split(/\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/)).toHaveLength(2);
        expect(encoded.isWellFormed()).toBe(true);
      }),
    );
  });

  it("keeps hostile keys as plain data", () => {
    const input: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    const event = stamp({ type: "tool_start", step: 1, tool_use_id: "a", name: "Bash", input, summary: "" });
    const back = JSON.parse(encode(event)) as LinefeedEvent & { input: object };
    expect(Object.keys(back.input)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("a line in pieces", () => {
  const message = (text: string): LinefeedEvent =>
    stamp({
      type: "message",
      turn: 1,
      step: 1,
      id: "m",
      role: "assistant",
      model: "x",
      content: [
        { type: "thinking", thinking: text },
        { type: "text", text },
        { type: "tool_use", id: "t", name: "Bash", input: { command: text, list: [1, null, "a", {}, []] } },
      ],
      stop_reason: null,
      usage: null,
      request_id: null,
    });

  it("is the line, whatever it holds and wherever it is cut", () => {
    const units = fc.constantFrom(
      "a",
      "\u2028",
      "\ud83d",
      "\ude00",
      "\u{1f600}",
      '"',
      "\\",
      "\n",
      "\ufeff",
      "é",
    );
    fc.assert(
      fc.property(fc.array(units, { minLength: 1, maxLength: 12 }), fc.nat({ max: 9 }), (some, shift) => {
        const text = "x".repeat(shift) + some.join("").repeat(Math.ceil(140_000 / some.length));
        const event = message(text);
        expect(isLong(event)).toBe(true);
        const pieces = [...encodeInPieces(event)];
        // Not compared by the matcher, which would print both.
        expect(pieces.join("") === encode(event)).toBe(true);
        expect(pieces.length).toBeGreaterThan(2);
        expect(pieces.every((piece) => piece.length < 2_000_000)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it("is not for short ones", () => {
    expect(isLong(message("short"))).toBe(false);
  });
});
