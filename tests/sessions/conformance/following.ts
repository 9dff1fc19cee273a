import { setTimeout as delay } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogChangedError } from "../../../src/sessions/event-log.ts";
import { SessionLines } from "../../support/session-lines.ts";
import {
  append,
  begin,
  closed,
  failing,
  followAll,
  live,
  liveElsewhere,
  newId,
  reopen,
  type NewPlace,
} from "./place.ts";

/** `follow`. */
export function following(newPlace: NewPlace): void {
  describe("follow", () => {
    it("BG-08: hands on what is there, from a line on or so many lines, and ends at the last word", async () => {
      const place = newPlace();
      const log = place.log();
      const lines = new SessionLines("x").run().split(/(?<=\n)/);
      const id = await place.leave(lines.join(""));
      for (const wait of [true, false]) {
        const end = "result";
        expect(await followAll(log, id, { wait })).toEqual({ text: lines.join(""), end });
        expect(await followAll(log, id, { wait, from: 3 })).toEqual({ text: lines.slice(2).join(""), end });
        expect(await followAll(log, id, { wait, from: 99 })).toEqual({ text: "", end });
        for (const tail of [0, 1, 3, 8, 99])
          expect(await followAll(log, id, { wait, tail })).toEqual({
            text: lines.slice(-tail || 99).join(""),
            end,
          });
      }
    });

    it("BG-05: never hands on a piece of a line, and tells a log without a last word", async () => {
      const place = newPlace();
      const bytes = Buffer.from(new SessionLines("x").run());
      const whole = (length: number) => bytes.subarray(0, bytes.subarray(0, length).lastIndexOf(10) + 1);
      const first = bytes.indexOf(10);
      for (const length of [0, 1, 100, first, first + 1, 700, bytes.length - 1]) {
        const id = await place.leave(bytes.subarray(0, length));
        const text = whole(length).toString("utf8");
        expect(await followAll(place.log(), id, { wait: false }), String(length)).toEqual({
          text,
          end: "open",
        });
        expect(await followAll(place.log(), id), String(length)).toEqual({ text, end: "lost" });
      }
    });

    it("refuses what is not there, or has no log", async () => {
      const place = newPlace();
      for (const id of [newId(), await place.leave(undefined)])
        await expect(followAll(place.log(), id)).rejects.toMatchObject(
          failing("usage", "there is no session"),
        );
    });

    it("loses and repeats nothing at the seam, whatever is appended when", async () => {
      const batches = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 15 });
      const pauses = fc.infiniteStream(fc.constantFrom(0, 0, 0, 1, 5));
      await fc.assert(
        fc.asyncProperty(
          batches,
          pauses,
          fc.nat({ max: 15 }),
          fc.integer({ min: 1, max: 40 }),
          async (counts, pause, joined, from) => {
            const place = newPlace();
            const { id, writer, lines } = await begin(place);
            const appended = [lines.line("init")];
            await append(writer, appended.join(""), false);
            let reader: Promise<{ text: string }> | undefined;
            const join = () => (reader ??= followAll(place.log(), id, { from }));
            for (const [index, count] of counts.entries()) {
              if (index === joined) void join();
              const batch = lines.deltas(count);
              writer.append(batch.join(""), false);
              appended.push(...batch);
              const ms = pause.next().value;
              if (ms !== 0) await delay(ms);
            }
            appended.push(lines.line("result"));
            await append(writer, appended.at(-1) ?? "", true);
            void join();
            await writer.serve(() => undefined);
            await closed(writer);
            expect(await join()).toEqual({ text: appended.slice(from - 1).join(""), end: "result" });
          },
        ),
        { numRuns: 25 },
      );
    });

    it("BG-01, BG-14: hands each of many readers every line once, while another process writes thousands", async () => {
      const place = newPlace();
      const { id, lines, process } = await liveElsewhere(place);
      const first = (await place.bytes(id)).toString("utf8");
      const slow = (pieces = 0) => {
        return async () => void ((pieces += 1) % 3 === 0 && (await delay(20)));
      };
      const readers = [
        followAll(place.log(), id),
        followAll(place.log(), id, {}, slow()),
        followAll(place.log(), id, { from: 3000 }),
      ];
      const deltas = lines.deltas(6000);
      const poured = process.do("pour", { lines: deltas });
      await delay(30);
      readers.push(followAll(place.log(), id), followAll(place.log(), id, { from: 2 }, slow()));
      await poured;
      const last = lines.line("result");
      await process.do("append", { lines: last });
      await process.do("close");
      const all = [first, ...deltas, last];
      const read = await Promise.all(readers);
      expect(read.map(({ end }) => end)).toEqual(read.map(() => "result"));
      const froms = [1, 1, 3000, 1, 2];
      expect(read.map(({ text }, index) => text === all.slice((froms[index] ?? 1) - 1).join(""))).toEqual(
        froms.map(() => true),
      );
      expect((await place.bytes(id)).toString("utf8")).toBe(all.join(""));
    });

    it("goes on over a last word while a writer lives, and into the next run", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run());
      const { writer, reading } = await reopen(place.log(), id);
      await writer.serve(() => undefined);
      const reader = followAll(place.log(), id);
      await delay(300);
      await append(writer, new SessionLines(id, reading.nextSeq).run(), true);
      await closed(writer);
      expect(await reader).toEqual({ text: (await place.bytes(id)).toString("utf8"), end: "result" });
    });

    it("BG-03: ends when the writer is killed, with all that it had appended", async () => {
      const place = newPlace();
      const { id, process } = await liveElsewhere(place);
      const reader = followAll(place.log(), id);
      await delay(50);
      await process.kill();
      expect(await reader).toEqual({ text: (await place.bytes(id)).toString("utf8"), end: "lost" });
      expect((await followAll(place.log(), id)).end).toBe("lost");
    });

    it("waits for a writer on another machine as long as there may be one, and ends at its last word", async () => {
      const place = newPlace();
      const lines = new SessionLines("x").run();
      const open = await place.leave(lines.slice(0, 400), { elsewhere: true });
      const controller = new AbortController();
      const reader = followAll(place.log(), open, { signal: controller.signal });
      if (place.seesAllMachines) {
        expect((await reader).end).toBe("lost");
      } else {
        const isOver = await Promise.race([reader.then(() => true), delay(700, false)]);
        expect(isOver).toBe(false);
        controller.abort(new Error("enough"));
        await expect(reader).rejects.toThrow("enough");
      }
      const ended = await place.leave(lines, { elsewhere: true });
      expect((await followAll(place.log(), ended)).end).toBe("result");
    });

    it.each(["cut", "replaced", "removed"] as const)(
      "BG-04: fails when the log is %s under it",
      async (change) => {
        const place = newPlace();
        const { id, writer, lines } = await live(place);
        await append(writer, lines.deltas(50).join(""), false);
        const harmed = followAll(place.log(), id, {}, () => place.harm(id, change));
        await expect(harmed).rejects.toBeInstanceOf(LogChangedError);
        await expect(harmed).rejects.toMatchObject({ change });
      },
    );

    it("ends with the reason of its signal, at once", async () => {
      const place = newPlace();
      const { id } = await live(place);
      const controller = new AbortController();
      const reader = followAll(place.log(), id, { signal: controller.signal }, () =>
        controller.abort(new Error("enough")),
      );
      await expect(reader).rejects.toThrow("enough");
    });
  });
}
