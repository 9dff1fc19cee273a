import { readdirSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser } from "../../src/consume/parser.ts";
import { StreamCheck } from "../../src/consume/stream-check.ts";
import { Transcript, type StreamItem } from "../../src/consume/index.ts";
import { damaged, damages } from "../support/mutate.ts";

// Whatever bytes there are, reading them ends, gives one item a line, and never throws where nothing is to be thrown.

const FOLDER = "examples/streams";
const streams = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => readFileSync(`${FOLDER}/${name}`));

function itemsOf(bytes: Uint8Array, cutEvery: number): StreamItem[] {
  const parser = new EventParser({ maxLineBytes: 64 * 1024 });
  const items: StreamItem[] = [];
  const take = () => {
    for (let item = parser.next(); item; item = parser.next()) items.push(item);
  };
  for (let at = 0; at < bytes.length; at += cutEvery) {
    parser.push(bytes.subarray(at, at + cutEvery));
    take();
  }
  parser.end();
  take();
  return items;
}

function expectSound(bytes: Uint8Array, cutEvery: number): void {
  const items = itemsOf(bytes, cutEvery);
  expect(items).toEqual(itemsOf(bytes, Infinity));
  // A line that is blank or a lone byte order mark has no item; all others have one.
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");
  expect(items.length).toBeLessThanOrEqual(lines.length);
  const transcript = new Transcript();
  for (const item of items) if (item.type !== "invalid") transcript.apply(item);
  const check = new StreamCheck();
  check.push(bytes);
  check.end();
}

describe("the reader", () => {
  it("takes any bytes, cut anywhere", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.integer({ min: 1, max: 100 }), (bytes, cutEvery) => {
        expectSound(bytes, cutEvery);
        // Without our own first words nothing is taken for an event of ours.
        for (const item of itemsOf(bytes, cutEvery)) expect(["invalid", "unknown"]).toContain(item.type);
      }),
      { numRuns: 300 },
    );
  });

  it("gives of a damaged stream what is left of it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        damages,
        fc.integer({ min: 1, max: 5000 }),
        (stream, list, cutEvery) => expectSound(damaged(stream, list), cutEvery),
      ),
      { numRuns: 300 },
    );
  });
});
