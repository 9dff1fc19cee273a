import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { SessionLines } from "../../support/session-lines.ts";
import { describeWithRedis, redisForTest, type RedisServer } from "../../support/redis-server.ts";
import { Door, LONG, until } from "../../support/stores.ts";

/** Short, for a writer that is to lose its lease. */
const LEASE_MS = 1000;
const options = () => ({ force: false, signal: LONG(), onEvent: () => undefined });

// The lease is the lock across machines: two writers never.
describeWithRedis("the lease of a session", () => {
  it("LG-03: is lost by a writer that is stopped for longer: another may carry on, and the first writes nothing more", async () => {
    const server = await redisForTest();
    const [first, second] = [
      new Door(server, { leaseMs: LEASE_MS }),
      new Door(server, { leaseMs: LEASE_MS }),
    ];
    const { id, lines, process } = await beginElsewhere(first);
    process.process.kill("SIGSTOP");
    await until(async () => (await second.log.presence(id)) === "none");
    const { writer, reading } = await second.log.open(id, options());
    const more = new SessionLines(id, reading.nextSeq);
    writer.append(more.line("turn_start"), false);
    await writer.delivered(LONG());
    // What it has taken in while it was stopped goes into its own file at best.
    process.process.kill("SIGCONT");
    await process.do("append", { lines: lines.deltas(5).join("") });
    const refused = await process.do("append", { lines: lines.line("text_delta") });
    expect(refused).toMatch(/another run has carried the session on/);
    writer.append(more.line("result"), true);
    writer.close();
    expect(await writer.delivered(LONG())).toBeUndefined();
    // Nor when the session is nobody's any more.
    await process.do("close");
    expect(await second.stored(id)).toBe(second.file(id));
    const there = second.file(id).trimEnd().split("\n");
    expect(there.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      "init",
      "turn_start",
      "result",
    ]);
  });

  it("is kept by a writer that nobody took the place of, however long it was stopped", async () => {
    const server = await redisForTest();
    const door = new Door(server, { leaseMs: LEASE_MS });
    const { id, lines, process } = await beginElsewhere(door);
    process.process.kill("SIGSTOP");
    await until(async () => (await door.log.presence(id)) === "none");
    process.process.kill("SIGCONT");
    await process.do("append", { lines: lines.line("turn_start") });
    expect(await door.log.presence(id)).toBe("alive");
    expect(await door.stored(id)).toBe(door.file(id));
  });

  it("of a session that was removed meanwhile is nobody's: it does not come back", async () => {
    const server = await redisForTest();
    const [first, second] = [
      new Door(server, { leaseMs: LEASE_MS }),
      new Door(server, { leaseMs: LEASE_MS }),
    ];
    const { id, lines, process } = await beginElsewhere(first);
    process.process.kill("SIGSTOP");
    await until(async () => (await second.log.presence(id)) === "none");
    await second.log.remove(id, { force: false, signal: LONG() });
    process.process.kill("SIGCONT");
    await process.do("append", { lines: lines.line("turn_start") });
    expect(await process.do("append", { lines: lines.line("step_start") })).toMatch(
      /the session was removed/,
    );
    await process.do("close");
    expect(await second.log.ids()).toEqual([]);
    expect(await server.keys()).toEqual([first.keys(id).removed]);
  });

  it("LG-03, BG-07: is had by one of several that want it at the same time, each round", async () => {
    const server = await redisForTest();
    const doors = Array.from({ length: 3 }, () => new Door(server));
    const id = await (doors[0] as Door).leave();
    const processes = await Promise.all(doors.map((door) => door.writer()));
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(processes.map((one) => one.do("open", { id })));
      const lost = answers.filter((answer) => /SessionBusyError/.test(String(answer)));
      expect(answers.map(String)).toHaveLength(3);
      expect(lost).toHaveLength(2);
      await Promise.all(processes.map((one) => one.do("close")));
      await until(async () => (await new Door(server).log.presence(id)) === "none");
    }
  });

  it("of a new session is had by one of two that give it the same id", async () => {
    const server = await redisForTest();
    const doors = [new Door(server), new Door(server)];
    const id = randomUUID();
    const begun = await Promise.allSettled(doors.map((door) => door.log.create(id)));
    expect(begun.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    for (const one of begun) {
      if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "usage" });
      else one.value.close();
    }
    // The one that was refused left nothing behind.
    expect(doors.flatMap(({ state }) => state.ids())).toHaveLength(1);
  });

  it("ends with its writer, at once when that ends in order", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const { id, writer } = await door.begin();
    expect(await ttl(server, door.keys(id).lease)).toBeGreaterThan(door.store.leaseMs / 2);
    writer.close();
    expect(await writer.delivered(LONG())).toBeUndefined();
    expect(await ttl(server, door.keys(id).lease)).toBe(-2);
  });

  it("is renewed while nothing is written", async () => {
    const server = await redisForTest();
    const door = new Door(server, { leaseMs: LEASE_MS });
    const { id } = await door.begin();
    await delay(LEASE_MS * 3);
    expect(await door.log.presence(id)).toBe("alive");
  });
});

async function beginElsewhere(door: Door) {
  const id = randomUUID();
  const lines = new SessionLines(id);
  const process = await door.writer();
  await process.do("create", { id });
  await process.do("append", { lines: lines.line("init") });
  return { id, lines, process };
}

async function ttl(server: RedisServer, key: string): Promise<number> {
  return Number(await server.call(["PTTL", key]));
}
