import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitInput, type InputLine } from "../../src/cli/input-lines.ts";

interface Kept extends Omit<InputLine, "bytes"> {
  text: string | undefined;
}

async function split(chunks: readonly Buffer[], maxBytes = 1000): Promise<Kept[]> {
  const lines: Kept[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const { bytes, ...line } of splitInput(source, maxBytes))
    lines.push({ ...line, text: bytes?.toString("utf8") });
  return lines;
}

const texts = async (text: string) => (await split([Buffer.from(text)])).map((line) => line.text);

describe("lines of stdin", () => {
  it("CO-07: end at LF or CRLF, the last one also without", async () => {
    expect(await texts("a\r\nb\n\nc\rd\u2028e")).toEqual(["a", "b", "", "c\rd\u2028e"]);
    expect(await texts("")).toEqual([]);
    expect(await texts("\n")).toEqual([""]);
    expect((await split([Buffer.from("a\nb")])).map(({ number, ended }) => [number, ended])).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  it("CO-10: are the same wherever the bytes are cut", async () => {
    const text = fc.array(fc.constantFrom("a", "ä", "漢", "😀", "\n", "\r", "\r\n", "\u2028", "\ufeff"), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(80), { maxLength: 8 }), fc.nat(12), async (parts, cuts, max) => {
        const bytes = Buffer.from(parts.join(""));
        const ends = [...cuts.filter((cut) => cut <= bytes.length), 0, bytes.length].toSorted(
          (a, b) => a - b,
        );
        const chunks = ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
        expect(await split(chunks, max)).toEqual(await split([bytes], max));
        const whole = await split([bytes]);
        const naive = parts.join("").split("\n");
        expect(whole.map((line) => line.text)).toEqual(
          naive
            .slice(0, naive.at(-1) === "" ? -1 : undefined)
            .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)),
        );
        // A limit takes nothing but the lines that are longer.
        for (const [index, line] of (await split(chunks, max)).entries()) {
          const isLong = Buffer.byteLength(whole[index]?.text ?? "") > max;
          expect(line.text).toBe(isLong ? undefined : whole[index]?.text);
        }
      }),
    );
  });

  it("CO-02, CO-03: a line over the limit is left out, with its real length; its neighbours are not", async () => {
    const piece = Buffer.alloc(700, "x");
    const lines = await split([Buffer.from("a\n"), ...Array<Buffer>(30).fill(piece), Buffer.from("\nb\n")]);
    expect(lines).toEqual([
      { number: 1, text: "a", length: 1, ended: true },
      { number: 2, text: undefined, length: 21_000, ended: true },
      { number: 3, text: "b", length: 1, ended: true },
    ]);
  });

  it("CO-03: the limit is that of a line, not of a chunk", async () => {
    const many = Buffer.from("0123456789\n".repeat(10_000));
    expect(await split([many], 10)).toHaveLength(10_000);
    expect((await split([Buffer.from("0123456789\r\n0123456789a\n")], 10)).map((line) => line.text)).toEqual([
      "0123456789",
      undefined,
    ]);
  });
});
