import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_ANSWER_SIZE } from "../../src/model/accumulate.ts";
import { SseDecoder, type SseFrame } from "../../src/model/sse.ts";

const STREAM =
  ': comment\nevent: a\ndata: {"x":"≤ 🦊"}\n\ndata: one\ndata: two\n\nevent: nothing\n\nid: 7\ndata:no space\n\n';
const FRAMES = [
  { event: "a", data: '{"x":"≤ 🦊"}', unterminated: false },
  { event: undefined, data: "one\ntwo", unterminated: false },
  { event: undefined, data: "no space", unterminated: false },
];

function decode(bytes: Uint8Array, cuts: readonly number[] = []): SseFrame[] {
  const sse = new SseDecoder();
  const ends = [...cuts, bytes.length].toSorted((a, b) => a - b);
  const frames = ends.flatMap((end, index) => sse.push(bytes.subarray(ends[index - 1] ?? 0, end)));
  return [...frames, ...sse.end()];
}

const lineEnds = [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
] as const;

describe("SSE frames", () => {
  it.each(lineEnds)("PR-10, PR-11, FR-05: %s line ends, cut at every byte", (_, lineEnd) => {
    const bytes = Buffer.from(STREAM.replaceAll("\n", lineEnd));
    expect(decode(bytes)).toEqual(FRAMES);
    for (let cut = 1; cut < bytes.length; cut += 1) expect(decode(bytes, [cut])).toEqual(FRAMES);
    expect(decode(bytes, [...bytes.keys()])).toEqual(FRAMES);
  });

  it("PR-11: mixed line ends, any cuts", () => {
    const mixed = fc.array(fc.constantFrom("\n", "\r\n"), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(mixed, fc.array(fc.nat({ max: 200 }), { maxLength: 12 }), (ends, cuts) => {
        let line = 0;
        const bytes = Buffer.from(STREAM.replaceAll("\n", () => ends[line++] ?? "\n"));
        const inside = cuts.filter((cut) => cut < bytes.length);
        expect(decode(bytes, inside)).toEqual(FRAMES);
      }),
    );
  });

  it("PR-12: a byte order mark, cut at every byte", () => {
    const bytes = Buffer.concat([Buffer.from("efbbbf", "hex"), Buffer.from(STREAM)]);
    for (let cut = 0; cut < 5; cut += 1) expect(decode(bytes, [cut])).toEqual(FRAMES);
  });

  it("a byte order mark later on is text", () => {
    expect(decode(Buffer.from("data: a\uFEFFb\n\n"))[0]?.data).toBe("a\uFEFFb");
  });

  it("PR-13: a frame of 40 KB in three reads, and many frames in one", () => {
    const long = Buffer.from(`data: ${"x".repeat(40_000)}\n\n`);
    expect(decode(long, [8192, 16_384])[0]?.data).toHaveLength(40_000);
    expect(decode(Buffer.from("data: y\n\n".repeat(5000)))).toHaveLength(5000);
  });

  it("marks a last frame without its blank line", () => {
    expect(decode(Buffer.from("data: a\n\ndata: b"))).toEqual([
      { event: undefined, data: "a", unterminated: false },
      { event: undefined, data: "b", unterminated: true },
    ]);
    expect(decode(Buffer.from("data: a\r\n\r"))).toHaveLength(1);
  });

  it("keeps the beginning of what stands outside any event", () => {
    const sse = new SseDecoder();
    sse.push(Buffer.from("Internal error\nretry: soon\n"));
    expect(sse.stray).toBe("Internal error\nretry: soon\n");
  });

  it("bytes that are no UTF-8 become U+FFFD", () => {
    expect(
      decode(Buffer.concat([Buffer.from("data: a"), Buffer.from("ff", "hex"), Buffer.from("\n\n")]))[0]?.data,
    ).toBe("a\uFFFD");
  });

  it("gives up on a single frame that is longer than an answer may be", () => {
    const sse = new SseDecoder();
    const piece = Buffer.alloc(1024 * 1024, "x");
    sse.push(Buffer.from("data: "));
    expect(() => {
      for (let size = 0; size <= MAX_ANSWER_SIZE + 2 * piece.length; size += piece.length) sse.push(piece);
    }).toThrow(expect.objectContaining({ code: "malformed_response" }));
  });
});
