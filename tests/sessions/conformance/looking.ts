import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { SessionLines } from "../../support/session-lines.ts";
import {
  append,
  begin,
  closed,
  failing,
  followAll,
  killed,
  live,
  liveElsewhere,
  NEVER,
  newId,
  reopen,
  type NewPlace,
} from "./place.ts";

const FAILURE = {
  code: "authentication",
  message: "no",
  http_status: 401,
  retryable: false,
  provider: "fake",
  request_id: null,
};

/** `state`, `presence`, `runProcess`, `list` and `ids`. */
export function looking(newPlace: NewPlace): void {
  describe("a state", () => {
    it.each([
      ["done", {}, 0],
      ["failed", { status: "error", exit_code: 1, error: FAILURE }, 1],
      ["cancelled", { status: "cancelled", exit_code: 143, error: { ...FAILURE, code: "cancelled" } }, 143],
      ["limit", { status: "limit", exit_code: 3, error: { ...FAILURE, code: "max_steps" } }, 3],
      ["crashed", { status: "error", exit_code: 5, error: { ...FAILURE, code: "lost_worker" } }, 5],
    ])("is %s after such a last word", async (state, result, exit_code) => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run(result), { name: "n", cwd: "/w" });
      expect(await place.log().presence(id)).toBe("none");
      expect(await place.log().state(id, NEVER)).toMatchObject({
        id,
        name: "n",
        cwd: "/w",
        state,
        terminal: true,
        exit_code,
        pid: null,
        damage: null,
        turns: 1,
        steps: 1,
        error: "error" in result ? result.error : null,
      });
    });

    it("is running while a turn goes on, waiting between two, and that of the last word in the end", async () => {
      const place = newPlace();
      const { id, writer, lines } = await live(place, { name: "n" });
      const state = () => place.log().state(id, NEVER);
      expect(await state()).toMatchObject({ state: "running", terminal: false, exit_code: null, name: "n" });
      await append(writer, lines.lines("turn_start", "step_start", "message"), false);
      expect(await state()).toMatchObject({ state: "running", steps: 1, pid: process.pid });
      await append(writer, lines.lines("step_end", "turn_end"), false);
      expect(await state()).toMatchObject({ state: "waiting", terminal: false });
      await append(writer, lines.line("result"), true);
      expect(await state()).toMatchObject({ state: "running" });
      await closed(writer);
      expect(await state()).toMatchObject({ state: "done", terminal: true, exit_code: 0, pid: null });
    });

    it("is crashed once the writer was killed, and running while it is stopped", async () => {
      const place = newPlace();
      const log = place.log();
      const { id, process } = await liveElsewhere(place);
      process.process.kill("SIGSTOP");
      expect(await log.state(id, NEVER)).toMatchObject({ state: "running", pid: process.process.pid });
      expect(await log.presence(id)).toBe("alive");
      await killed(place, id, process);
      expect(await log.state(id, NEVER)).toMatchObject({ state: "crashed", terminal: true, exit_code: 5 });
      expect(await log.presence(id)).toBe("none");
      expect(await log.runProcess(id)).toMatchObject({ pid: process.process.pid });
    });

    it("is running from the first line on, though the run can be asked much later", async () => {
      const place = newPlace();
      const log = place.log();
      const { id, process } = await liveElsewhere(place, { serves: false });
      process.process.kill("SIGSTOP");
      await place.age(id, 60_000);
      expect(await log.presence(id)).toBe("alive");
      expect(await log.state(id, NEVER)).toMatchObject({ state: "waiting", terminal: false });
      const reader = followAll(log, id);
      expect(await Promise.race([reader.then(() => "over"), delay(400, "open")])).toBe("open");
      await expect(reopen(log, id)).rejects.toMatchObject({ code: "usage" });
      await expect(log.remove(id, { force: true, signal: NEVER })).rejects.toMatchObject({
        code: "invalid_request",
      });
      await killed(place, id, process);
      expect((await reader).end).toBe("lost");
      expect(await log.state(id, NEVER)).toMatchObject({ state: "crashed", exit_code: 5 });
      await reopen(log, id);
    });

    it("of another machine's session is that of its last word; without one running, if nobody can tell", async () => {
      const place = newPlace();
      const log = place.log();
      const run = new SessionLines("x").run();
      const open = await place.leave(run.slice(0, 400), { elsewhere: true });
      const { seesAllMachines } = place;
      expect(await log.presence(open)).toBe(seesAllMachines ? "none" : "unknown");
      const state = seesAllMachines ? "crashed" : "running";
      expect(await log.state(open, NEVER)).toMatchObject({ state, pid: null });
      expect(await log.runProcess(open)).toBeUndefined();
      const ended = await place.leave(run, { elsewhere: true });
      expect(await log.state(ended, NEVER)).toMatchObject({ state: "done" });
    });

    it("of a damaged session says what is wrong", async () => {
      const place = newPlace();
      const run = new SessionLines("x").run();
      const damaged = [
        [undefined, "it has no log"],
        ["", "its log is empty"],
        ["hello\n", "its first line is no init"],
        [`${run}garbage\n`, "its last line is no event"],
      ] as const;
      for (const [lines, damage] of damaged) {
        const id = await place.leave(lines);
        expect(await place.log().state(id, NEVER)).toMatchObject({ state: "crashed", damage });
      }
    });

    it("of what is not there is an error", async () => {
      const log = newPlace().log();
      await expect(log.state(newId(), NEVER)).rejects.toMatchObject(failing("usage", "there is no session"));
      expect(await log.presence(newId())).toBe("none");
      const aborted = AbortSignal.abort(new Error("enough"));
      await expect(log.state(newId(), aborted)).rejects.toThrow("enough");
    });
  });

  describe("list", () => {
    it("has the session in front that was written to last, damaged ones too", async () => {
      const place = newPlace();
      const run = new SessionLines("x").run();
      const minutes = [5, 1, 3, 2, 4];
      const ids: string[] = [];
      for (const age of minutes) ids.push(await place.leave(age === 3 ? "" : run, { ageMs: age * 60_000 }));
      const wanted = [1, 3, 2, 4, 0].map((index) => ids[index]);
      expect((await place.log().list({ signal: NEVER })).map(({ id }) => id)).toEqual(wanted);
      expect((await place.log().ids()).toSorted()).toEqual(ids.toSorted());
      const { id, writer } = await live(place);
      expect((await place.log().list({ signal: NEVER }))[0]).toMatchObject({ id, state: "running" });
      await closed(writer);
    });

    it("takes those in a state, of a folder, from before a time, and so many", async () => {
      const place = newPlace();
      const run = new SessionLines("x").run();
      const [a, b, c] = [
        await place.leave(run, { cwd: "/a", ageMs: 100_000 }),
        await place.leave(run.slice(0, 400), { cwd: "/a", ageMs: 200_000 }),
        await place.leave(run, { cwd: "/b", ageMs: 300_000 }),
      ];
      const listed = async (options: object) =>
        (await place.log().list({ ...options, signal: NEVER })).map(({ id }) => id);
      expect(await listed({ states: ["done"] })).toEqual([a, c]);
      expect(await listed({ states: ["done"], limit: 1 })).toEqual([a]);
      expect(await listed({ states: ["crashed", "running"] })).toEqual([b]);
      expect(await listed({ cwd: "/a" })).toEqual([a, b]);
      expect(await listed({ limit: 2 })).toEqual([a, b]);
      expect(await listed({ writtenBefore: Date.now() - 150_000 })).toEqual([b, c]);
    });

    it("is empty where nothing is kept, and ends with the reason of its signal", async () => {
      const place = newPlace();
      expect(await place.log().list({ signal: NEVER })).toEqual([]);
      expect(await place.log().ids()).toEqual([]);
      await closed((await begin(place)).writer);
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(place.log().list({ signal })).rejects.toThrow("enough");
    });
  });
}
