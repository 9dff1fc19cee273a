import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { LogReading, LogWriter } from "../../../src/sessions/event-log.ts";
import { SessionLines } from "../../support/session-lines.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { Door, LONG } from "../../support/stores.ts";
import { readAll } from "../conformance/place.ts";

async function carryOn(door: Door, id: string): Promise<{ writer: LogWriter; reading: LogReading }> {
  return door.log.open(id, { force: false, signal: LONG(), onEvent: () => undefined });
}

/** One more run on a session. Returns its lines. */
async function runOn(door: Door, id: string): Promise<string> {
  const { writer, reading } = await carryOn(door, id);
  const lines = new SessionLines(id, reading.nextSeq).run();
  writer.append(lines, true);
  writer.close();
  expect(await writer.delivered(LONG())).toBeUndefined();
  return lines;
}

// A session is carried on wherever the store is reached: its files there become what they would be had it always been there.
describeWithRedis("carrying on a session of the store", () => {
  it("builds the files anew where there are none", async () => {
    const server = await redisForTest();
    const [first, second] = [new Door(server), new Door(server)];
    const id = await first.leave();
    const before = first.file(id);
    const more = await runOn(second, id);
    expect(second.file(id)).toBe(before + more);
    expect(await second.stored(id)).toBe(before + more);
  });

  it("brings older files up to date, also those that end in the middle of a line", async () => {
    const server = await redisForTest();
    const [first, second] = [new Door(server), new Door(server)];
    const id = await first.leave();
    await runOn(second, id);
    appendFileSync(first.state.log(id), '{"type":"init","seq":8,"ts');
    const { reading, writer } = await carryOn(first, id);
    expect(reading).toMatchObject({ nextSeq: 16, badLines: 0, tornBytes: 0 });
    writer.close();
    await writer.delivered(LONG());
    expect(first.file(id)).toBe(second.file(id));
    await runOn(first, id);
    expect(await first.stored(id)).toBe(first.file(id));
  });

  it("refuses to drop lines that never got into the store, where that has others in their place", async () => {
    const server = await redisForTest();
    const [first, second] = [new Door(server), new Door(server)];
    const id = await first.leave();
    // Written in an outage, and the machine was gone before it was over.
    appendFileSync(first.state.log(id), new SessionLines(id, 8).run());
    await runOn(second, id);
    const kept = first.file(id);
    await expect(carryOn(first, id)).rejects.toMatchObject({
      code: "io",
      message: expect.stringMatching(/mv .*events\.jsonl/),
    });
    expect(first.file(id)).toBe(kept);
    // As the message says.
    rmSync(first.state.log(id));
    await runOn(first, id);
    expect(await first.stored(id)).toBe(first.file(id));
  });

  it("copies what the store lacks, as after an outage that outlasted the run", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const id = await door.leave();
    appendFileSync(door.state.log(id), new SessionLines(id, 8).run());
    await runOn(door, id);
    expect(await door.stored(id)).toBe(door.file(id));
  });

  it("takes up a session that was never in the store", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const id = await door.leave();
    await server.call(["FLUSHALL"]);
    expect(await door.log.ids()).toEqual([]);
    await runOn(door, id);
    expect(await new Door(server).stored(id)).toBe(door.file(id));
    expect(await door.log.ids()).toEqual([id]);
  });

  it("brings the lines before a fork along, and gives them to the store with the fork", async () => {
    const server = await redisForTest();
    const [first, second, third] = [new Door(server), new Door(server), new Door(server)];
    const parent = await first.leave();
    // Where the parent never was.
    const id = crypto.randomUUID();
    const fork = await second.log.create(id, parent);
    const lines = new SessionLines(id);
    fork.append(lines.line("init", { forked_from: { session_id: parent, seq: 7 } }), false);
    fork.append(lines.line("result"), true);
    fork.close();
    expect(await fork.delivered(LONG())).toBeUndefined();
    const before = await readAll(third.log, id);
    expect(before.inherited.map(({ type }) => type)).toContain("message");
    await third.log.remove(parent, { force: false, signal: LONG() });
    expect(await readAll(third.log, id)).toEqual(before);
    await carryOn(third, id).then(({ writer }) => (writer.close(), writer.delivered(LONG())));
    expect(readFileSync(join(third.state.folder(id), "ancestors", `${parent}.jsonl`), "utf8")).toBe(
      first.file(parent),
    );
    // All of it goes with it.
    await third.log.remove(id, { force: false, signal: LONG() });
    expect(await server.keys()).toEqual([]);
    expect(existsSync(third.state.folder(id))).toBe(false);
  });

  it("leaves nothing behind where the session cannot be read", async () => {
    const server = await redisForTest();
    const door = new Door(server);
    const id = await door.leave();
    writeFileSync(door.state.log(id), new SessionLines(id).line("init", { protocol: 99 }));
    await server.call(["FLUSHALL"]);
    await expect(carryOn(door, id)).rejects.toMatchObject({ code: "config" });
    expect(await server.keys()).toEqual([]);
  });
});

describeWithRedis("retention", () => {
  it("is Redis's to keep: all of a session goes together so long after its last line", async () => {
    const server = await redisForTest();
    const retainMs = 1_000_000;
    const [first, second] = [new Door(server), new Door(server, { retainMs })];
    const parent = await first.leave();
    const id = crypto.randomUUID();
    const fork = await second.log.create(id, parent);
    fork.append(new SessionLines(id).line("init", { forked_from: { session_id: parent, seq: 7 } }), false);
    expect(await fork.delivered(LONG())).toBeUndefined();
    const { meta, log, ancestor } = second.keys(id);
    for (const key of [meta, log, ancestor(parent)]) {
      const left = Number(await server.call(["PTTL", key]));
      expect(left).toBeGreaterThan(retainMs - 60_000);
      expect(left).toBeLessThanOrEqual(retainMs);
      await server.call(["PEXPIRE", key, 90_000]);
    }
    // The next line counts anew, for the lines before the fork too.
    fork.append(new SessionLines(id, 2).line("turn_start"), false);
    expect(await fork.delivered(LONG())).toBeUndefined();
    for (const key of [meta, log, ancestor(parent)])
      expect(Number(await server.call(["PTTL", key]))).toBeGreaterThan(90_000);
    // What has gone is listed no more.
    fork.close();
    await fork.delivered(LONG());
    await server.call(["DEL", meta, log, ancestor(parent)]);
    expect(await second.log.ids()).toEqual([parent]);
    expect(await server.call(["ZRANGE", `${second.store.prefix}sessions`, 0, -1])).toEqual([parent]);
  });

  it("by length keeps about the last lines, which are shown; to carry on there are too few", async () => {
    const server = await redisForTest();
    const door = new Door(server, { retainLines: 200 });
    const { id, writer, lines } = await door.begin();
    writer.append(lines.deltas(3000).join("") + lines.line("result"), false);
    writer.close();
    expect(await writer.delivered(LONG())).toBeUndefined();
    const kept = (await door.stored(id)).split("\n").length - 1;
    expect(kept).toBeGreaterThanOrEqual(200);
    expect(kept).toBeLessThan(500);
    const elsewhere = new Door(server);
    expect(await elsewhere.log.state(id, LONG())).toMatchObject({ state: "done", damage: null });
    const following = await elsewhere.log.follow(id, { from: 1, wait: true, signal: LONG() });
    const pieces: Buffer[] = [];
    for await (const piece of following.lines()) pieces.push(piece);
    expect(Buffer.concat(pieces).toString("utf8")).toBe(await door.stored(id));
    await expect(carryOn(elsewhere, id)).rejects.toMatchObject({
      code: "io",
      message: expect.stringMatching(/only from \d+ on/),
    });
    // Where its file is, nothing is missing.
    const { reading, writer: here } = await carryOn(door, id);
    expect(reading.nextSeq).toBe(3003);
    here.close();
    await here.delivered(LONG());
  });
});
