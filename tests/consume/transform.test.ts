import fc from "fast-check";
import { PassThrough, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { eventStream, InvalidLineError, type ReadOptions, type StreamItem } from "../../src/consume/index.ts";
import { everyCut } from "../support/cut.ts";
import { init, linesOf, notice, readAll, result, stamped, toBytes } from "./support.ts";

const events = stamped([init, notice("ä🙂"), result]);
const text = linesOf(events);

/** Everything that comes out of the stream. */
async function pass(chunks: Iterable<Uint8Array | string>, options?: ReadOptions): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  const sink = new Writable({
    objectMode: true,
    write(item: StreamItem, _encoding, done) {
      items.push(item);
      // A reader that takes its time, so that the stream has to wait for it.
      setImmediate(done);
    },
  });
  await pipeline(Readable.from(chunks), eventStream(options), sink);
  return items;
}

describe("eventStream", () => {
  it("gives what readEvents gives, whatever the cut", async () => {
    const bytes = toBytes("oops\n", text, '{"type":"later"}\r\n', "torn");
    const expected = await readAll([bytes]);
    expect(expected).toHaveLength(6);
    let n = 0;
    for (const { cut, chunks } of everyCut(bytes)) {
      if (n++ % 20 < 2) expect(await pass(chunks), cut).toEqual(expected);
    }
    expect(await pass([bytes], { onInvalid: "skip" })).toEqual(await readAll([bytes], { onInvalid: "skip" }));
  });

  it("comes to its end for any number of lines in any chunks, whoever reads", async () => {
    const cuts = fc.array(fc.nat(40), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (counts, isSlow) => {
        const chunks = counts.map((count) => linesOf(stamped(Array(count).fill(init))));
        const expected = counts.reduce((sum, count) => sum + count, 0);
        let seen = 0;
        const count = async (items: AsyncIterable<StreamItem>) => {
          for await (const _ of items) {
            seen += 1;
            if (isSlow && seen % 7 === 0) await new Promise(setImmediate);
          }
        };
        const source = Readable.from(chunks.filter((chunk) => chunk !== ""));
        await pipeline(source, eventStream(), count);
        expect(seen).toBe(expected);
        await count(Readable.from(chunks.filter((chunk) => chunk !== "")).pipe(eventStream()));
        expect(seen).toBe(2 * expected);
      }),
      { numRuns: 200 },
    );
  });

  it("takes text in pieces", async () => {
    expect(await pass(["\ufeff", text.slice(0, 30), text.slice(30)])).toEqual(events);
  });

  it("emits what readEvents throws", async () => {
    await expect(pass(["oops\n"], { onInvalid: "throw" })).rejects.toThrow(InvalidLineError);
    expect(() => eventStream({ maxLineBytes: 0 })).toThrow(RangeError);
  });

  it("parses lines as they are taken: a chunk of 10,000 lines makes no heap of events", async () => {
    const stream = eventStream();
    const ask = new Promise<void>((resolve) =>
      stream.write(linesOf(stamped(Array(10_000).fill(init))), () => resolve()),
    );
    stream.end();
    await new Promise(setImmediate);
    expect(stream.readableLength).toBeLessThanOrEqual(32);
    let taken = 0;
    for await (const _ of stream) {
      taken += 1;
      expect(stream.readableLength).toBeLessThanOrEqual(32);
    }
    expect(taken).toBe(10_000);
    await ask;
  });

  it("ends with its signal", async () => {
    const controller = new AbortController();
    const source = new PassThrough();
    const stream = source.pipe(eventStream({ signal: controller.signal }));
    const reading = (async () => {
      for await (const _ of stream);
    })();
    source.write(text);
    setTimeout(() => controller.abort(), 10);
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    source.destroy();
  });

  it("is destroyed with the loop over it", async () => {
    const source = new PassThrough();
    source.write(text);
    const stream = source.pipe(eventStream());
    for await (const _ of stream) break;
    expect(stream.destroyed).toBe(true);
    source.destroy();
  });
});
