import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { followAll } from "../conformance/place.ts";
import { seeded } from "../../support/random.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { SessionLines } from "../../support/session-lines.ts";
import { Door, until } from "../../support/stores.ts";

const KILLS = 6;
/** Short, so that the next one need not wait. */
const LEASE_MS = 700;

describeWithRedis("a writer that is killed", () => {
  it("LG-02, BG-03: at any moment leaves whole lines in the store, from which another machine goes on", async () => {
    const server = await redisForTest();
    const random = seeded(1);
    const id = randomUUID();
    let door = new Door(server, { leaseMs: LEASE_MS });
    let lines = new SessionLines(id);
    let process = await door.writer();
    await process.do("create", { id });
    await process.do("append", { lines: lines.line("init") });
    for (let kill = 1; kill <= KILLS; kill++) {
      const poured = process.do("pour", { lines: [lines.lines("turn_start"), ...lines.deltas(20_000)] });
      poured.catch(() => undefined);
      await delay(random.between(0, 120));
      await process.kill();
      await until(async () => (await door.log.presence(id)) === "none");
      const stored = await door.stored(id);
      expect(stored.endsWith("\n")).toBe(true);
      expect(door.file(id).startsWith(stored)).toBe(true);
      // Another machine, each time.
      door = new Door(server, { leaseMs: LEASE_MS });
      expect(await followAll(door.log, id)).toEqual({ text: stored, end: "lost" });
      process = await door.writer();
      expect(await process.do("open", { id })).toBeUndefined();
      expect(door.file(id)).toBe(stored);
      lines = new SessionLines(id, stored.split("\n").length);
    }
    const numbers = (await door.stored(id))
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});
