import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GrepPage } from "../../src/tools/grep-page.ts";
import { GrepSplitter, type GrepRecord } from "../../src/tools/grep-records.ts";

const BINARY = './x/b\n.bin: binary file matches (found "\\0" byte around offset 3)\n';
const WARNING =
  './b.bin: WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)\n';

function split(text: string, cuts: readonly number[], linesFollow = true) {
  const splitter = new GrepSplitter(linesFollow);
  const records: GrepRecord[] = [];
  let at = 0;
  for (const length of [...cuts, text.length]) records.push(...splitter.push(text.slice(at, (at += length))));
  splitter.end();
  return { records, binary: splitter.binary };
}

describe("ripgrep's output", () => {
  it("is taken apart by NUL, whatever names and lines hold", () => {
    const text = `./a:1:b\x0012:x\n--\n./new\nline\x003-y\n${BINARY}./c\x004:-- :\r\n${WARNING}`;
    expect(split(text, [])).toEqual({
      records: [
        { path: "./a:1:b", rest: "12:x", gap: false },
        { path: "./new\nline", rest: "3-y", gap: true },
        { path: "./c", rest: "4:-- :\r", gap: false },
      ],
      binary: 2,
    });
    expect(split("./a\0./b\n--\n\0", [], false).records.map(({ path }) => path)).toEqual([
      "./a",
      "./b\n--\n",
    ]);
  });

  it("is the same wherever it is cut", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "-", "\n", ":", " ", "🙂"), maxLength: 5 });
    const record = fc
      .tuple(fc.constantFrom("", "--\n", BINARY, WARNING), name, fc.constantFrom("1:", "2-", "30:--", "4:\r"))
      .map(([before, path, rest]) => `${before}./${path}\x00${rest}\n`);
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 8 }),
        fc.array(fc.nat(9), { maxLength: 60 }),
        (parts, cuts) => {
          const whole = split(parts.join(""), []);
          expect(whole.records.length).toBe(parts.length);
          expect(split(parts.join(""), cuts)).toEqual(whole);
        },
      ),
    );
  });
});

describe("a page", () => {
  it("begins and ends where it was asked to", () => {
    const page = new GrepPage({ offset: 1, limit: 2, units: 100 });
    expect(["a", "b", "c", "d"].map((entry) => page.add(entry, entry !== "c"))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect({ text: page.text, more: page.more, next: page.next }).toEqual({
      text: "b\nc\n",
      more: true,
      next: 3,
    });
  });

  it("separates what does not stand together", () => {
    const page = new GrepPage({ offset: 0, limit: 9, units: 100 });
    for (const entry of ["a", "b"]) page.add(entry, true);
    expect(page.text).toBe("a\n--\nb\n");
  });

  it("holds no more than it may, but one entry at least", () => {
    const page = new GrepPage({ offset: 0, limit: 9, units: 10 });
    expect(page.add("🙂".repeat(20), false)).toBe(true);
    expect(page.add("b", false)).toBe(false);
    expect(page.text).toBe(`${"🙂".repeat(4)}…\n`);
    expect(page.next).toBe(1);
  });
});
