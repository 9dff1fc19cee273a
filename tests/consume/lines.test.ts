import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter, readLines, type Line, type LineOptions } from "../../src/consume/lines.ts";
import { arriving, cutAt, everyCut, pieces } from "../support/cut.ts";

const encoder = new TextEncoder();
const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? encoder.encode(part) : Uint8Array.from(part))),
  );

function split(chunks: Iterable<Uint8Array | string>, options?: LineOptions): Line[] {
  const splitter = new LineSplitter(options);
  const lines: Line[] = [];
  const take = () => {
    for (let line = splitter.next(); line; line = splitter.next()) lines.push(line);
  };
  for (const chunk of chunks) {
    splitter.push(chunk);
    take();
  }
  splitter.end();
  take();
  return lines;
}

const texts = (lines: readonly Line[]) => lines.map(({ text }) => text);

/** The lines of all cuts of the bytes, which have to be the same. */
function splitEveryWay(bytes: Uint8Array, options?: LineOptions): Line[] {
  const expected = split([bytes], options);
  for (const { cut, chunks } of everyCut(bytes)) expect(split(chunks, options), cut).toEqual(expected);
  return expected;
}

describe("lines", () => {
  it("end at LF only, whatever else looks like a line end", () => {
    const text = "a\u2028b\u2029c\u0085d\ve\ff\rg";
    expect(texts(splitEveryWay(bytesOf(`${text}\nnext\n`)))).toEqual([text, "next"]);
  });

  it("CO-07: CRLF, blank lines, and a last line without its end", () => {
    const lines = splitEveryWay(bytesOf("a\r\n\r\n\nb\rc\r\nlast"));
    expect(texts(lines)).toEqual(["a", "", "", "b\rc", "last"]);
    expect(lines.map(({ number, ended }) => [number, ended])).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [4, true],
      [5, false],
    ]);
  });

  it("CO-06: a byte order mark at the beginning of any line is no part of it", () => {
    const mark = [0xef, 0xbb, 0xbf];
    expect(texts(splitEveryWay(bytesOf(mark, "a\n", mark, mark, "b\n", "c\ufeffd\n", mark)))).toEqual([
      "a",
      "b",
      "c\ufeffd",
      "",
    ]);
  });

  it("CO-10: characters of two, three and four bytes may be cut anywhere", () => {
    const text = "ä≤🙂\n🙂🙂≤\nä";
    expect(texts(splitEveryWay(bytesOf(text)))).toEqual(text.split("\n"));
  });

  it("bytes that are no UTF-8 are told from a replacement character that was written", () => {
    const lines = splitEveryWay(bytesOf("good \ufffd\n", "bad ", [0xe2, 0x89], "\n", "good\n", [0xff]));
    expect(lines.map((line) => line.kind === "text" && line.wellFormed)).toEqual([true, false, true, false]);
    expect(texts(lines)).toEqual(["good \ufffd", "bad \ufffd", "good", "\ufffd"]);
  });

  it("nothing gives nothing", () => {
    expect(split([])).toEqual([]);
    expect(split([bytesOf(""), bytesOf("")])).toEqual([]);
  });
});

describe("the limit", () => {
  it("CO-02, CO-03: is a limit of the line, and a longer one is reported with its real length", () => {
    const lines = splitEveryWay(bytesOf("12345678\n123456789\nshort\n🙂🙂🙂\nand no end"), {
      maxLineBytes: 8,
    });
    expect(lines.map(({ kind, number, bytes, ended }) => [kind, number, bytes, ended])).toEqual([
      ["text", 1, 8, true],
      ["too_long", 2, 9, true],
      ["text", 3, 5, true],
      ["too_long", 4, 12, true],
      ["too_long", 5, 10, false],
    ]);
    expect(texts(lines)[3]).toBe("🙂🙂🙂");
  });

  it("CO-03: a chunk of 10,000 short lines is no long line", () => {
    const chunk = bytesOf(
      '{"type":"notice","text":"some words, so that it has about 100 bytes ......."}\n'.repeat(10_000),
    );
    const lines = split([chunk], { maxLineBytes: 65_536 });
    expect(lines).toHaveLength(10_000);
    expect(lines.every(({ kind }) => kind === "text")).toBe(true);
  });

  it("CO-03: a line without end costs no memory, and keeps its beginning", () => {
    const chunk = Buffer.alloc(1024 * 1024, "ä");
    const before = process.memoryUsage().rss;
    const lines = split(
      (function* () {
        for (let n = 0; n < 1024; n++) yield chunk;
        yield bytesOf("\nnext");
      })(),
      { maxLineBytes: 1024 * 1024 },
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    expect(lines.map(({ kind, bytes }) => [kind, bytes])).toEqual([
      ["too_long", 1024 ** 3],
      ["text", 4],
    ]);
    expect(lines[0]?.text).toBe("ä".repeat(512));
  });

  it("has to be a positive number", () => {
    for (const maxLineBytes of [0, -1, NaN])
      expect(() => new LineSplitter({ maxLineBytes })).toThrow(RangeError);
    expect(texts(split(["a\n"], { maxLineBytes: Infinity }))).toEqual(["a"]);
  });
});

describe("chunks", () => {
  it("may be text; a surrogate pair may be cut, half a pair is damage", () => {
    const lines = split(["a\ud83d", "\ude42b\nc\ud83d", "d\n", "e\n\ud83d"]);
    expect(texts(lines)).toEqual(["a🙂b", "c\ufffdd", "e", "\ufffd"]);
    expect(lines.map((line) => line.kind === "text" && line.wellFormed)).toEqual([true, false, true, false]);
  });

  it("may be text and bytes in turn", () => {
    expect(texts(split(["a\ud83d", bytesOf("b\n"), "c"]))).toEqual(["a\ufffdb", "c"]);
  });

  it("a long line in small pieces takes time in proportion", () => {
    const time = (bytes: number) => {
      const chunks = pieces(Buffer.alloc(bytes, "x"), 512);
      const begin = process.cpuUsage();
      expect(split(chunks)[0]?.bytes).toBe(bytes);
      const { user, system } = process.cpuUsage(begin);
      return user + system;
    };
    time(1 << 20);
    // Four times the bytes; a quadratic splitter takes sixteen times as long.
    expect(time(1 << 26)).toBeLessThan(10 * Math.max(time(1 << 24), 20_000));
  });

  it("have to be emptied one after the other", () => {
    const splitter = new LineSplitter();
    splitter.push("a\nb\n");
    expect(() => splitter.push("c")).toThrow(TypeError);
  });
});

it("any cut of any text gives the lines of the text", () => {
  const text = fc.array(
    fc.oneof(fc.constantFrom("\n", "\r\n", "\r", "🙂", "≤", "\ufeff"), fc.string({ unit: "grapheme" })),
  );
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (parts, places) => {
      const bytes = bytesOf(parts.join(""));
      const expected = parts
        .join("")
        .split("\n")
        .map((line) => line.replace(/^\ufeff+/, ""));
      const ended = expected.slice(0, -1).map((line) => line.replace(/\r$/, ""));
      const last = parts.join("").split("\n").at(-1) ?? "";
      const all = last === "" ? ended : [...ended, (expected.at(-1) ?? "").replace(/\r$/, "")];
      expect(texts(split(cutAt(bytes, places)))).toEqual(all);
    }),
  );
});

describe("readLines", () => {
  it("reads a source as fast as its lines are taken, and closes it when left early", async () => {
    let given = 0;
    let closed = false;
    async function* source() {
      try {
        for (; given < 100; given++) yield "one\ntwo\n";
      } finally {
        closed = true;
      }
    }
    let taken = 0;
    for await (const line of readLines(source())) {
      if (++taken === 5) expect(line).toMatchObject({ number: 5, text: "one" });
      if (taken === 5) break;
    }
    expect({ given, closed }).toEqual({ given: 2, closed: true });
  });

  it("hands on what the source throws, after the lines before", async () => {
    async function* source() {
      yield "one\ntwo";
      throw new Error("gone");
    }
    const seen: string[] = [];
    const reading = async () => {
      for await (const line of readLines(source())) seen.push(line.text);
    };
    await expect(reading()).rejects.toThrow("gone");
    expect(seen).toEqual(["one"]);
  });

  it("gives the last line", async () => {
    const lines: Line[] = [];
    for await (const line of readLines(arriving(["a\n", "b"]))) lines.push(line);
    expect(texts(lines)).toEqual(["a", "b"]);
  });
});
