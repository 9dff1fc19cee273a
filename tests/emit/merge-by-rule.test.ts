import fc from "fast-check";
import { expect, it } from "vitest";
import { FULL_UNITS } from "../../src/emit/merge.ts";
import { Window } from "../../src/emit/window.ts";
import type { EventBody } from "../../src/protocol/event.ts";

// Without a clock (`--deterministic`) the lines depend on the text alone.

const text = (piece: string, block = 0): EventBody => ({ type: "text_delta", step: 1, block, text: piece });
const notice: EventBody = { type: "notice", level: "info", code: "stdin_ignored", message: "" };

/** Pushes all, with a taker that looks in after every so many events; returns the lines. */
async function linesOf(
  bodies: readonly EventBody[],
  lookEvery: number,
  coalesceMs = 50,
): Promise<EventBody[]> {
  const window = new Window(coalesceMs, undefined);
  const lines: EventBody[] = [];
  const taker = (async () => {
    for (let taken = await window.take(); taken; taken = await window.take())
      lines.push(...taken.filter((item) => item.type !== "aside"));
  })();
  for (const [place, body] of bodies.entries()) {
    window.push(body);
    if (place % lookEvery === 0) await new Promise(setImmediate);
  }
  window.end();
  await taker;
  return lines;
}

/** The same text, cut after other characters. */
function recut(bodies: readonly EventBody[], size: number): EventBody[] {
  return bodies.flatMap((body) => {
    if (body.type !== "text_delta") return [body];
    const pieces: EventBody[] = [];
    for (let begin = 0; begin < body.text.length; begin += size)
      pieces.push({ ...body, text: body.text.slice(begin, begin + size) });
    return pieces;
  });
}

it("are the same however the text is cut and whenever the taker comes", async () => {
  // Made in the property itself, so that a counterexample can be read.
  const run = fc.record({
    unit: fc.string({ unit: "binary", minLength: 1, maxLength: 5 }),
    times: fc.constantFrom(1, 100, 3000, 8000),
    block: fc.nat(2),
  });
  const part = fc.oneof(
    { weight: 5, arbitrary: run },
    { weight: 1, arbitrary: fc.constant("notice" as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 12 }),
      fc.oneof(fc.integer({ min: 2, max: 9 }), fc.integer({ min: 100, max: 9000 })),
      fc.integer({ min: 50, max: 2000 }),
      async (parts, size, lookEvery) => {
        const bodies = parts.map((each) =>
          each === "notice" ? notice : text(each.unit.repeat(each.times), each.block),
        );
        const lines = await linesOf(bodies, 1000);
        const again = await linesOf(recut(bodies, size), lookEvery);
        expect(again.map(lengthOf)).toEqual(lines.map(lengthOf));
        expect(again.every((line, n) => JSON.stringify(line) === JSON.stringify(lines[n]))).toBe(true);
        expect(Math.max(0, ...lines.map(lengthOf))).toBeLessThanOrEqual(FULL_UNITS + 1);
      },
    ),
    { numRuns: 100 },
  );
});

const lengthOf = (body: EventBody) => (body.type === "text_delta" ? body.text.length : 0);

it("hold a block whole, or so much of it as a line may", async () => {
  const long = "x".repeat(FULL_UNITS * 2 + 5);
  const lines = await linesOf([text("one "), text("block"), text(long, 1), notice], 1);
  expect(lines.map((line) => (line.type === "text_delta" ? line.text.length : line.type))).toEqual([
    9,
    FULL_UNITS,
    FULL_UNITS,
    5,
    "notice",
  ]);
});

it("do not split a surrogate pair at the end of a full line", async () => {
  const lines = await linesOf([text(`${"x".repeat(FULL_UNITS - 1)}😀y`)], 1);
  expect(lines.map((line) => line.type === "text_delta" && line.text.slice(-3))).toEqual(["x😀", "y"]);
});

it("are every delta by itself with --coalesce-ms 0, however far behind the taker is", async () => {
  const bodies = Array.from({ length: 20_000 }, (_, n) => text(`${n} `.padEnd(100)));
  expect(await linesOf(bodies, 1_000_000, 0)).toEqual(bodies);
});
