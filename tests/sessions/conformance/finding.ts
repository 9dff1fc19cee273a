import { describe, expect, it } from "vitest";
import { SessionLines } from "../../support/session-lines.ts";
import {
  closed,
  failing,
  killed,
  live,
  liveElsewhere,
  NEVER,
  newId,
  readAll,
  reopen,
  type NewPlace,
} from "./place.ts";

const FIRST = "0000aaaa-0000-4000-8000-00000000beef";
const SECOND = "0000bbbb-0000-4000-8000-00000000feed";

/** `find`, `liveNamed` and `remove`. */
export function finding(newPlace: NewPlace): void {
  const run = new SessionLines("x").run();
  const two = async () => {
    const place = newPlace();
    await place.leave(run, { id: FIRST, name: "deploy", cwd: "/a", ageMs: 100_000 });
    await place.leave(run, { id: SECOND, cwd: "/b", ageMs: 200_000 });
    return { place, find: (reference: string) => place.log().find({ reference }) };
  };

  describe("find", () => {
    it("takes an id, its beginning or end, or a name", async () => {
      const { find } = await two();
      expect(await find(SECOND.toUpperCase())).toBe(SECOND);
      expect(await find("0000bbbb")).toBe(SECOND);
      expect(await find(" FEED ")).toBe(SECOND);
      expect(await find("0000bbbb-0000-4000")).toBe(SECOND);
      expect(await find("deploy")).toBe(FIRST);
    });

    it.each([
      ["several", "0000", /may be 0000(a|b).*give more/],
      ["a short piece", "fee", /no session "fee"; give its id, 4 or more/],
      ["a piece of the middle", "4000-8000", /no session/],
      ["several words", "fix the tests", /-c -p/],
      ["a path", "../sessions", /no session/],
      ["nothing", "", /no session/],
      ["an id that is not there", "0000cccc-0000-4000-8000-000000000000", /no session 0000cccc/],
      ["another spelling of a name", "Deploy", /no session/],
    ])("BG-06: refuses %s", async (_, reference, message) => {
      const { find } = await two();
      await expect(find(reference)).rejects.toMatchObject(failing("usage", message));
    });

    it("takes the latest with a log of a folder", async () => {
      const { place } = await two();
      const newer = await place.leave(run, { cwd: "/a", ageMs: 1000 });
      await place.leave(undefined, { cwd: "/a", ageMs: 0 });
      expect(await place.log().find({ latestIn: "/a" })).toBe(newer);
      expect(await place.log().find({ latestIn: "/b" })).toBe(SECOND);
      await expect(place.log().find({ latestIn: "/" })).rejects.toMatchObject(
        failing("usage", "no session has worked in / yet"),
      );
    });

    it("finds a damaged one too", async () => {
      const { place, find } = await two();
      const damaged = await place.leave(undefined);
      expect(await find(damaged)).toBe(damaged);
      expect(await find(damaged.slice(-12))).toBe(damaged);
    });

    it("of several with a name takes the newest that lives, else the newest", async () => {
      const { place, find } = await two();
      const newest = await place.leave(run, { name: "deploy", ageMs: 1000 });
      expect(await find("deploy")).toBe(newest);
      expect(await place.log().liveNamed("deploy")).toBeUndefined();
      const older = await live(place, { name: "deploy" });
      const newer = await live(place, { name: "deploy" });
      await place.age(older.id, 90_000);
      await place.age(newer.id, 80_000);
      expect(await find("deploy")).toBe(newer.id);
      expect(await place.log().liveNamed("deploy")).toBe(newer.id);
      await closed(newer.writer);
      expect(await find("deploy")).toBe(older.id);
      await closed(older.writer);
      expect(await find("deploy")).toBe(newest);
      expect(await place.log().liveNamed("deploy")).toBeUndefined();
    });
  });

  describe("remove", () => {
    it("removes what has ended, and says what it was", async () => {
      const { place, find } = await two();
      const log = place.log();
      const gone = await log.remove(FIRST, { force: false, signal: NEVER });
      expect(gone).toMatchObject({ id: FIRST, name: "deploy", state: "done" });
      expect(await log.ids()).toEqual([SECOND]);
      await expect(find("deploy")).rejects.toMatchObject({ code: "usage" });
      await expect(readAll(log, FIRST)).rejects.toMatchObject({ code: "usage" });
      await expect(log.remove(FIRST, { force: false, signal: NEVER })).rejects.toMatchObject({
        code: "usage",
      });
      await closed(await log.create(FIRST));
    });

    it("refuses what runs, stopped or not, by force too", async () => {
      const place = newPlace();
      const { id } = await live(place);
      const other = await liveElsewhere(place);
      other.process.process.kill("SIGSTOP");
      for (const running of [id, other.id]) {
        for (const force of [false, true])
          await expect(place.log().remove(running, { force, signal: NEVER })).rejects.toMatchObject(
            failing("invalid_request", `linefeed stop ${running}`),
          );
        expect((await readAll(place.log(), running)).own).toHaveLength(1);
      }
    });

    it("removes a crashed and a damaged one", async () => {
      const place = newPlace();
      const { id, process } = await liveElsewhere(place);
      await killed(place, id, process);
      for (const ended of [id, await place.leave(undefined), await place.leave("garbage")])
        expect(await place.log().remove(ended, { force: false, signal: NEVER })).toMatchObject({
          state: "crashed",
        });
      expect(await place.log().ids()).toEqual([]);
    });

    it("leaves alone what may run on another machine, unless it is forced", async () => {
      const place = newPlace();
      const id = await place.leave(run.slice(0, 400), { elsewhere: true });
      const remove = (force: boolean) => place.log().remove(id, { force, signal: NEVER });
      const { seesAllMachines } = place;
      if (!seesAllMachines)
        await expect(remove(false)).rejects.toMatchObject(failing("invalid_request", "on another"));
      const state = seesAllMachines ? "crashed" : "running";
      expect(await remove(!seesAllMachines)).toMatchObject({ state });
      expect(await place.log().ids()).toEqual([]);
    });

    it("refuses what is not there, and ends with the reason of its signal", async () => {
      const place = newPlace();
      const options = { force: false, signal: NEVER };
      await expect(place.log().remove(newId(), options)).rejects.toMatchObject({ code: "usage" });
      const id = await place.leave(run);
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(place.log().remove(id, { ...options, signal })).rejects.toThrow("enough");
      await reopen(place.log(), id);
    });
  });
}
