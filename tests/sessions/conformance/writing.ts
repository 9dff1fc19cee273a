import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogError } from "../../../src/sessions/event-log.ts";
import { SessionLines } from "../../support/session-lines.ts";
import { append, begin, closed, failing, live, newId, readAll, reopen, type NewPlace } from "./place.ts";

/** `create`, `open`, `read` and what a writer can do. */
export function writing(newPlace: NewPlace): void {
  describe("create", () => {
    it("begins a session that others see at once, line by line", async () => {
      const place = newPlace();
      const { id, writer, lines } = await begin(place);
      await append(writer, lines.line("init"), false);
      expect((await readAll(place.log(), id)).own).toMatchObject([{ type: "init", seq: 1 }]);
      await append(writer, lines.lines("turn_start", "step_start"), true);
      expect((await readAll(place.log(), id)).reading).toMatchObject({ nextSeq: 4, badLines: 0 });
      expect(await place.log().presence(id)).toBe("alive");
    });

    it("refuses an id that is taken, and leaves that session as it is", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run());
      const before = await place.bytes(id);
      await expect(place.log().create(id)).rejects.toMatchObject(failing("usage", `--resume ${id}`));
      expect(await place.bytes(id)).toEqual(before);
      expect(await place.log().presence(id)).toBe("none");
    });

    it.each(["", "x", "../../x", "019BC0FD-89C0-7C3E-9B5D-2F6A81D04E97"])(
      "BG-06: takes no id but a UUID in small letters: %j",
      async (id) => {
        const log = newPlace().log();
        await expect(log.create(id)).rejects.toThrow(TypeError);
        const signal = new AbortController().signal;
        await expect(log.state(id, signal)).rejects.toThrow(TypeError);
        await expect(log.presence(id)).rejects.toThrow(TypeError);
        await expect(log.remove(id, { force: true, signal })).rejects.toThrow(TypeError);
      },
    );
  });

  describe("append", () => {
    it("keeps what was appended, in that order, whatever the pieces", async () => {
      const pieces = fc.array(
        fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { minLength: 1, maxLength: 5 }),
        {
          maxLength: 12,
        },
      );
      await fc.assert(
        fc.asyncProperty(pieces, fc.boolean(), async (batches, durable) => {
          const place = newPlace();
          const { id, writer, lines } = await begin(place);
          const batched = batches.map((texts) => texts.map((text) => lines.notice(text)).join(""));
          for (const batch of batched) await append(writer, batch, durable);
          expect((await place.bytes(id)).toString("utf8")).toBe(batched.join(""));
          const { own, reading } = await readAll(place.log(), id);
          expect(own.map((event) => "message" in event && event.message)).toEqual(batches.flat());
          expect(reading.nextSeq).toBe(batches.flat().length + 1);
          await closed(writer);
        }),
        { numRuns: 25 },
      );
    });

    it("keeps a line of 5 MB, with characters of every length", async () => {
      const place = newPlace();
      const { id, writer, lines } = await begin(place);
      const text = "aä漢🫖".repeat(500_000);
      await append(writer, lines.line("init") + lines.notice(text), false);
      expect((await readAll(place.log(), id)).own[1]).toMatchObject({ message: text });
    });

    it("keeps nothing more once the writer is closed", async () => {
      const place = newPlace();
      const { id, writer, lines } = await begin(place);
      await append(writer, lines.line("init"), false);
      await closed(writer);
      await closed(writer);
      expect(() => writer.append(lines.line("turn_start"), false)).toThrow(LogError);
      expect((await readAll(place.log(), id)).own).toHaveLength(1);
    });
  });

  describe("open", () => {
    it("refuses what is not there, and what has a writer, until that is closed", async () => {
      const place = newPlace();
      const log = place.log();
      await expect(reopen(log, newId())).rejects.toMatchObject(failing("usage", "there is no session"));
      const { id, writer, lines } = await live(place);
      await expect(reopen(log, id)).rejects.toMatchObject(failing("usage", `linefeed attach ${id}`));
      await append(writer, lines.line("turn_start"), false);
      await closed(writer);
      const { reading } = await reopen(log, id);
      expect(reading.nextSeq).toBe(3);
      await expect(reopen(place.log(), id)).rejects.toMatchObject({ code: "usage" });
    });

    it("goes on where the log ends", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run());
      const before = (await place.bytes(id)).toString("utf8");
      const { writer, reading } = await reopen(place.log(), id);
      const more = new SessionLines(id, reading.nextSeq).run();
      await append(writer, more, false);
      expect((await place.bytes(id)).toString("utf8")).toBe(before + more);
    });

    it("leaves a session of another machine alone, unless it is forced or nobody writes to it there", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run(), { elsewhere: true });
      const { seesAllMachines } = place;
      if (!seesAllMachines)
        await expect(reopen(place.log(), id)).rejects.toMatchObject(failing("usage", "--force"));
      expect((await reopen(place.log(), id, !seesAllMachines)).reading.nextSeq).toBe(9);
    });

    it("LG-02: cuts off an unfinished last line, says how long it was, and leaves one alone that is whole", async () => {
      const place = newPlace();
      const lines = new SessionLines("x").run();
      const torn = '{"type":"turn_start","seq":9,"ts';
      const id = await place.leave(lines + torn);
      const tornBytes = place.seesAllMachines ? 0 : torn.length;
      expect((await readAll(place.log(), id)).reading).toMatchObject({ tornBytes, nextSeq: 9 });
      // Reading changes nothing.
      expect((await place.bytes(id)).toString("utf8")).toBe(lines + torn);
      const { reading, writer } = await reopen(place.log(), id);
      expect(reading).toMatchObject({ tornBytes: torn.length, nextSeq: 9, badLines: 0 });
      expect((await place.bytes(id)).toString("utf8")).toBe(lines);
      await closed(writer);
      const unended = await place.leave(lines.slice(0, -1));
      expect((await reopen(place.log(), unended)).reading).toMatchObject({ tornBytes: 0, nextSeq: 9 });
      expect((await place.bytes(unended)).toString("utf8")).toBe(lines);
    });

    it("LG-06: names a line that cannot be read, and gives its number to no other", async () => {
      const place = newPlace();
      const lines = new SessionLines("x").run().split(/(?<=\n)/);
      const id = await place.leave(
        [...lines.slice(0, 2), "garbage\n", Buffer.from([0xff]).toString("latin1"), "\n"].join(""),
      );
      const { reading, own } = await readAll(place.log(), id);
      expect(reading).toMatchObject({ badLines: 2, nextSeq: 5, firstBad: [{ number: 3 }, { number: 4 }] });
      expect(own.map(({ type }) => type)).toEqual(["init", "turn_start"]);
    });

    it("refuses what a newer version wrote", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").line("init", { protocol: 99 }));
      await expect(reopen(place.log(), id)).rejects.toMatchObject(failing("config", "update linefeed"));
      await expect(readAll(place.log(), id)).rejects.toMatchObject({ code: "config" });
      // It is nobody's now.
      await expect(reopen(place.log(), id)).rejects.toMatchObject({ code: "config" });
    });

    it("and read end with the reason of their signal", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run());
      const options = { signal: AbortSignal.abort(new Error("enough")), onEvent: () => undefined };
      await expect(place.log().read(id, options)).rejects.toThrow("enough");
      await expect(place.log().open(id, { ...options, force: false })).rejects.toThrow("enough");
      await reopen(place.log(), id);
    });
  });

  describe("read", () => {
    it("refuses what is not there", async () => {
      await expect(readAll(newPlace().log(), newId())).rejects.toMatchObject({ code: "usage" });
    });

    it("passes over deltas", async () => {
      const place = newPlace();
      const { own, reading } = await readAll(place.log(), await place.leave(new SessionLines("x").run()));
      expect(own.map(({ type }) => type)).not.toContain("text_delta");
      expect(reading.nextSeq).toBe(9);
    });

    it("of a fork begins with the lines of those it comes from, up to the fork, though they grow and go", async () => {
      const place = newPlace();
      const log = place.log();
      const oldest = await place.leave(new SessionLines("x").run());
      const child = await fork(place, oldest, 8);
      const grandchild = await fork(place, child, 3);
      const { writer } = await reopen(log, oldest);
      await append(writer, new SessionLines(oldest, 9).run(), false);
      await closed(writer);
      const before = await readAll(log, grandchild);
      expect(before.own.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      const types = ["init", "turn_start", "step_start"];
      const run = [...types, "message", "step_end", "turn_end", "result"];
      expect(before.inherited.map(({ type }) => type)).toEqual([...run, ...types]);
      for (const id of [oldest, child]) await log.remove(id, { force: false, signal: signal() });
      expect(await readAll(log, grandchild)).toEqual(before);
    });
  });
}

/** A fork of a session from a line on, with three lines of its own. */
async function fork(place: ReturnType<NewPlace>, parent: string, seq: number): Promise<string> {
  const { id, writer, lines } = await begin(place, { parent });
  await append(writer, lines.line("init", { forked_from: { session_id: parent, seq } }), false);
  await append(writer, lines.lines("turn_start", "step_start"), false);
  await closed(writer);
  await place.age(id, 60_000);
  return id;
}

const signal = () => new AbortController().signal;
