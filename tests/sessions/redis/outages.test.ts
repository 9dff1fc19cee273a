import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { Door, LONG, until } from "../../support/stores.ts";

// What a store does to a writer: a run is never held up, and in the end nothing is missing.
describeWithRedis("a store that fails", () => {
  const failures = [
    ["is killed and comes back with its data", { restart: {} }],
    ["is killed and comes back empty", { restart: { isEmpty: true } }],
  ] as const;

  it.each(failures)("%s: all lines are there in the end", async (_, { restart }) => {
    const server = await redisForTest();
    const door = new Door(server);
    const { id, writer, lines, troubles } = await door.begin();
    await server.kill();
    const before = performance.now();
    for (const line of lines.deltas(2000)) writer.append(line, false);
    expect(performance.now() - before).toBeLessThan(2000);
    await until(() => troubles.length > 0);
    expect(troubles).toMatchObject([{ kind: "behind", message: expect.stringMatching(door.state.log(id)) }]);
    await server.restart(restart);
    expect(await writer.delivered(LONG())).toBeUndefined();
    expect(await door.stored(id)).toBe(door.file(id));
    expect(troubles.map(({ kind }) => kind)).toEqual(["behind", "caught_up"]);
  });

  it("is emptied under a run: it is said, and all lines are copied again", async () => {
    const server = await redisForTest();
    const door = new Door(server, { leaseMs: 2000 });
    const { id, writer, lines, troubles } = await door.begin();
    await writer.describe({ name: "n", cwd: "/w", model: "m", process_mark: null });
    writer.append(lines.deltas(50).join(""), false);
    await writer.delivered(LONG());
    await server.call(["FLUSHALL"]);
    // Though nothing is appended for now.
    await until(() => troubles.length > 0);
    expect(troubles).toMatchObject([
      { kind: "caught_up", message: expect.stringMatching(/lost the lines from 1 on/) },
    ]);
    expect(await door.stored(id)).toBe(door.file(id));
    expect(await door.log.state(id, LONG())).toMatchObject({ name: "n", state: "running" });
    expect(await door.log.find({ reference: "n" })).toBe(id);
  });

  it("has lost its last lines: the rest is copied again", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const { id, writer, lines, troubles } = await door.begin();
    writer.append(lines.deltas(9).join(""), false);
    await writer.delivered(LONG());
    // As a replica that was not up to date.
    const { log, meta } = door.keys(id);
    await server.call(["XDEL", log, "8-0", "9-0", "10-0"]);
    await server.call(["HSET", meta, "seq", 7]);
    // What Redis says of its last entry would refuse them: a replica has never seen it.
    await server.call(["XSETID", log, "7-0"]);
    writer.append(lines.line("text_delta"), false);
    await until(async () => (await door.stored(id)) === door.file(id));
    expect(troubles).toMatchObject([{ kind: "caught_up", message: expect.stringMatching(/from 8 on/) }]);
  });

  it("is stopped: appends take no longer, and who waits for delivery waits as long as he wants", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const { id, writer, lines } = await door.begin();
    server.pause();
    const before = performance.now();
    for (const line of lines.deltas(2000)) writer.append(line, false);
    expect(performance.now() - before).toBeLessThan(2000);
    const missing = await writer.delivered(AbortSignal.timeout(300));
    expect(missing?.message).toMatch(/does not have the lines from 2 on.*kept in/);
    server.resume();
    expect(await writer.delivered(LONG())).toBeUndefined();
    expect(await door.stored(id)).toBe(door.file(id));
  });

  it("pauses its clients: everything arrives behind it", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const { id, writer, lines } = await door.begin();
    await server.call(["CLIENT", "PAUSE", 7000, "ALL"]);
    writer.append(lines.deltas(100).join(""), false);
    expect(await writer.delivered(AbortSignal.timeout(200))).toBeDefined();
    expect(await writer.delivered(LONG())).toBeUndefined();
    await until(async () => (await door.stored(id)) === door.file(id));
  });

  it("is full: that is told at once and at a start, and when there is room again all arrives", async () => {
    const server = await redisForTest({ maxmemory: "20mb" });
    const door = new Door(server);
    const { id, writer, lines, troubles } = await door.begin();
    await server.call(["CONFIG", "SET", "maxmemory", "1mb"]);
    writer.append(lines.deltas(10).join(""), false);
    await until(() => troubles.length > 0);
    expect(troubles).toMatchObject([
      { kind: "behind", message: expect.stringMatching(/memory limit is reached/) },
    ]);
    const other = new Door(server);
    await expect(other.begin()).rejects.toMatchObject({
      code: "io",
      message: expect.stringMatching(/memory limit is reached; remove sessions/),
    });
    // What cannot be begun leaves nothing behind.
    expect(other.state.ids()).toEqual([]);
    await server.call(["CONFIG", "SET", "maxmemory", "0"]);
    expect(await writer.delivered(LONG())).toBeUndefined();
    expect(await door.stored(id)).toBe(door.file(id));
    expect(troubles.map(({ kind }) => kind)).toEqual(["behind", "caught_up"]);
  });

  it("throws its user out in the middle of it: that is told at once", async () => {
    const server = await redisForTest();
    await server.call(["ACL", "SETUSER", "agent", "on", ">p", "~*", "+@all"]);
    const door = new Door(server, { url: `redis://agent:p@127.0.0.1:${server.port}/0` });
    const { writer, lines, troubles } = await door.begin();
    // Its connections go with it.
    await server.call(["ACL", "DELUSER", "agent"]);
    writer.append(lines.line("turn_start"), false);
    await until(() => troubles.length > 0);
    const message: unknown = expect.stringMatching(/refuses the user or the password/);
    expect(troubles).toMatchObject([{ kind: "behind", message }]);
  });

  it("cannot be used at a start: nothing is begun", async () => {
    const server = await redisForTest({ password: "p", databases: 2 });
    const refused = async (url: string) => {
      const door = new Door(server, { url });
      const error: unknown = await door.begin().catch((thrown: unknown) => thrown);
      expect(door.state.ids()).toEqual([]);
      return error;
    };
    const address = `127.0.0.1:${server.port}`;
    expect(await refused(`redis://:q@${address}/0`)).toMatchObject({
      code: "config",
      message: expect.stringMatching(/refuses/),
    });
    expect(await refused(`redis://${address}/0`)).toMatchObject({ code: "config" });
    expect(await refused(`redis://:p@${address}/7`)).toMatchObject({ code: "config" });
    await server.stop();
    expect(await refused(server.url())).toMatchObject({ code: "network", retryable: true });
  });

  it("goes away for a while: who follows waits, and gets every line once", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const { id, writer, lines } = await door.begin();
    const elsewhere = new Door(server).log;
    const following = await elsewhere.follow(id, { from: 1, wait: true, signal: LONG() });
    const pieces: Buffer[] = [];
    const read = (async () => {
      for await (const piece of following.lines()) pieces.push(piece);
    })();
    await until(() => pieces.length > 0);
    await server.kill();
    writer.append(lines.deltas(300).join(""), false);
    await delay(1500);
    await server.restart();
    writer.append(lines.line("result"), true);
    writer.close();
    expect(await writer.delivered(LONG())).toBeUndefined();
    await read;
    expect(Buffer.concat(pieces).toString("utf8")).toBe(door.file(id));
    expect(following.end.kind).toBe("result");
  });
});
