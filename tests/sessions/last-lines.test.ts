import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { CutStrings } from "../../src/sessions/file-log/cut-strings.ts";
import { linesBackwards, readLine } from "../../src/sessions/file-log/last-lines.ts";
import { temporaryFolder } from "../support/cli.ts";

async function opened(content: string | Buffer) {
  const path = join(temporaryFolder(), "log");
  writeFileSync(path, content);
  const file = await open(path);
  onTestFinished(() => file.close());
  return file;
}

describe("lines from the end of a file", () => {
  // Lines that begin and end at and around the edges of what is read at once.
  const edge = fc.integer({ min: -3, max: 3 }).map((off) => 64 * 1024 + off);
  const length = fc.oneof(fc.integer({ min: 0, max: 300 }), edge, fc.constant(200_000));

  it("are those of the file, whatever their lengths, and whether the last one is ended", async () => {
    const property = fc.asyncProperty(
      fc.array(length, { maxLength: 12 }),
      fc.boolean(),
      async (lengths, ended) => {
        const lines = lengths.map((size, index) => `${index}:`.padEnd(size, "x").slice(0, size));
        const content = lines.join("\n") + (ended ? "\n" : "");
        const file = await opened(content);
        const found: string[] = [];
        for await (const place of linesBackwards(file, content.length)) {
          const line = content.slice(place.begin, place.end);
          expect(place.head.toString()).toBe(line.slice(0, 160));
          expect(place.ended).toBe(place.end < content.length);
          found.unshift(line);
        }
        expect(found).toEqual(lines.filter((line) => line !== ""));
        await file.close();
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it("BG-16: a line of 5 MB takes little, and is JSON still", async () => {
    const line = JSON.stringify({ status: "ok", text: "ä".repeat(2_500_000), end: [1, { last: "x" }] });
    const file = await opened(`${line}\n`);
    const { value: place } = await linesBackwards(file, Buffer.byteLength(line) + 1).next();
    if (!place) throw new Error("no line");
    const text = await readLine(file, place);
    expect(text.length).toBeLessThan(100_000);
    expect(JSON.parse(text)).toEqual({ status: "ok", text: "ä".repeat(32 * 1024), end: [1, { last: "x" }] });
  });
});

describe("cutting strings", () => {
  const json = fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.stringify(value));
  const cutBy = (text: string, longest: number, size: number) => {
    const cut = new CutStrings(longest);
    const bytes = Buffer.from(text);
    const pieces = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(cut.push(bytes.subarray(at, at + size)));
    return Buffer.concat(pieces).toString();
  };

  it("leaves short ones as they are", () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 9 }), (text, size) => {
        expect(cutBy(text, Infinity, size)).toBe(text);
      }),
    );
  });

  it("gives JSON, with the beginnings of the others", () => {
    const texts = fc.array(fc.string({ unit: "binary", maxLength: 30 }), { maxLength: 5 });
    const property = fc.property(
      texts,
      fc.nat(12),
      fc.integer({ min: 1, max: 9 }),
      (strings, longest, size) => {
        const cut = JSON.parse(cutBy(JSON.stringify(strings), longest, size)) as string[];
        expect(cut).toHaveLength(strings.length);
        for (const [index, text] of cut.entries()) {
          // A pair of escapes may be cut in two.
          expect(strings[index]?.startsWith(text)).toBe(true);
          if (longest === 0) expect(text).toBe("");
        }
      },
    );
    fc.assert(property);
  });
});
