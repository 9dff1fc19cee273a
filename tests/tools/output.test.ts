import { readFileSync, statSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIVE_UNITS, MODEL_UNITS, OutputCollector } from "../../src/tools/output.ts";
import { headOf, tailOf } from "../../src/tools/text.ts";
import type { ToolOutput } from "../../src/tools/tool.ts";
import { temporaryFolder } from "./support/call.ts";

const CUT = /\n\n\[… (\d+) characters left out here; the whole output is in (.+) …\]\n\n/;

const piece = fc.record({
  stream: fc.constantFrom("stdout" as const, "stderr" as const),
  text: fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 }),
    fc.constantFrom("🙂", "a🙂🙂", "🙂".repeat(100), "x".repeat(300)),
  ),
});

function run(pieces: readonly ToolOutput[], limits: { modelUnits: number; liveUnits: number }) {
  const directory = temporaryFolder();
  const collector = new OutputCollector({ directory: () => directory, toolUseId: "c", ...limits });
  const live = pieces.map((one) => collector.add(one)).filter((one) => one !== undefined);
  return { live, ...collector.finish() };
}

describe("shortening", () => {
  it("keeps head and tail, names the cut, and cuts no character", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 300, max: 1200 }),
        (pieces, modelUnits) => {
          const whole = pieces.map(({ text }) => text).join("");
          const { text, truncated, outputFile } = run(pieces, { modelUnits, liveUnits: LIVE_UNITS });
          expect(truncated).toBe(whole.length > modelUnits);
          expect(text.length).toBeLessThanOrEqual(modelUnits);
          expect(text.isWellFormed()).toBe(true);
          const [cut = "", leftOut = "0", file] = CUT.exec(text) ?? [];
          const [head = "", tail = ""] = truncated ? text.split(cut) : [text];
          expect(file).toBe(outputFile ?? undefined);
          expect(file === undefined || readFileSync(file, "utf8") === whole).toBe(true);
          expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
          expect(head.length + tail.length + Number(leftOut)).toBe(whole.length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("FR-07: an emoji around the limit is never halved", () => {
    for (
      let n = MODEL_UNITS / 2 - 400;
      n < MODEL_UNITS + 4;
      n += n < MODEL_UNITS - 4 && n > MODEL_UNITS / 2 + 4 ? 4000 : 1
    ) {
      for (const filler of ["", "y".repeat(MODEL_UNITS), "y🙂".repeat(MODEL_UNITS)]) {
        const text = `${"x".repeat(n)}🙂${filler}`;
        const result = run([{ stream: "stdout", text }], { modelUnits: MODEL_UNITS, liveUnits: LIVE_UNITS });
        expect(result.text.isWellFormed()).toBe(true);
        expect(result.text.length).toBeLessThanOrEqual(MODEL_UNITS);
        expect(result.truncated).toBe(text.length > MODEL_UNITS);
      }
    }
  });
});

describe("live output", () => {
  it("is the beginning of the whole, up to its limit and without gaps", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 1, max: 1000 }),
        (pieces, liveUnits) => {
          const whole = pieces.map(({ text }) => text).join("");
          const { live, outputFile, truncated } = run(pieces, { modelUnits: 100_000, liveUnits });
          const shown = live.map(({ text }) => text).join("");
          expect(whole.startsWith(shown)).toBe(true);
          expect(shown.isWellFormed()).toBe(true);
          expect(shown.length).toBeLessThanOrEqual(liveUnits);
          expect(shown.length).toBeGreaterThanOrEqual(Math.min(whole.length, liveUnits - 1));
          expect(truncated).toBe(false);
          const kept = outputFile === null ? shown : readFileSync(outputFile, "utf8");
          expect(kept).toBe(whole);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("the file", () => {
  it("has a name that stays in its folder, whatever the id is", () => {
    const directory = temporaryFolder();
    const collector = new OutputCollector({
      directory: () => directory,
      toolUseId: "../../a/ü\0",
      modelUnits: 500,
    });
    collector.add({ stream: "stdout", text: "x".repeat(1000) });
    expect(collector.finish().outputFile).toBe(`${directory}/______a___.txt`);
  });

  it("is readable by its owner only, whatever the umask", () => {
    const directory = temporaryFolder();
    const collector = new OutputCollector({ directory: () => directory, toolUseId: "a", modelUnits: 500 });
    collector.add({ stream: "stdout", text: "x".repeat(1000) });
    expect(statSync(collector.finish().outputFile ?? "").mode & 0o777).toBe(0o600);
  });
});

describe("cutting text", () => {
  it("takes as much as fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, units) => {
        const [head, tail] = [headOf(text, units), tailOf(text, units)];
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
        for (const part of [head, tail]) {
          expect(part.length).toBeLessThanOrEqual(units);
          expect(part.length).toBeGreaterThanOrEqual(Math.min(text.length, units) - 1);
        }
      }),
    );
  });
});
