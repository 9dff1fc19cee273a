import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { scriptFile } from "../support/cli.ts";
import { Machine } from "../support/machines.ts";
import { describeWithRedis, redisForTest, type RedisServer } from "../support/redis-server.ts";
import { bash, hello } from "../support/sessions.ts";

// What docs/distributed.md says of keys, rights and sizes is what a Redis has.

const page = readFileSync("docs/distributed.md", "utf8");
const OK = { code: 0, stderr: "" };
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The rows of the page's table of keys: name, type, and whether it says that the key goes by itself. */
const rows = [...page.matchAll(/^\| `(linefeed:[^`]*)`\s*\| ([\w ]+?)\s*\|.*\| (.*?)\s*\|$/gm)].map(
  ([, name = "", type = "", goes = ""]) => ({ name, type, goes }),
);

/** Every key as the page would call it, with its type and the time that it has left in ms. */
async function keysOf(redis: RedisServer): Promise<{ name: string; type: string; leftMs: number }[]> {
  const keys = await redis.keys();
  return Promise.all(
    keys.map(async (key) => ({
      name: key.replace(/:answer:.*/, ":answer:<request>").replaceAll(UUID, "<id>"),
      type: String(await redis.call(["TYPE", key])).replace("zset", "sorted set"),
      leftMs: Number(await redis.call(["PTTL", key])),
    })),
  );
}

/** The words of a command line up to the end of its block. */
function aclWords(text: string): string[] {
  const [line = ""] = text.split("```");
  const words = line.replaceAll("\\\n", " ").match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ""));
}

describeWithRedis("docs/distributed.md", () => {
  it("has every key with its type and its end, and no other", async () => {
    expect(rows.length).toBeGreaterThan(6);
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const first = await here.run(["-p", "x", "--fake", hello(), "--retain", "7d", "--name", "first"]);
    expect(first).toMatchObject(OK);
    const fork = ["-r", "first", "--fork-session", "-p", "x", "--fake", hello(), "--keep-open", "--json"];
    const run = here.start([...fork, "--remote-control", "--retain", "7d"]);
    const id = await run.sessionId();
    await run.untilSays('"turn_end"');
    expect(await elsewhere.run(["send", id, "more"])).toMatchObject(OK);
    const seen = await keysOf(redis);
    expect(await elsewhere.run(["stop", id])).toMatchObject(OK);
    await run.ended;
    expect(await elsewhere.run(["rm", id])).toMatchObject(OK);
    seen.push(...(await keysOf(redis)));

    for (const { name, type, leftMs } of seen) {
      const row = rows.find((candidate) => candidate.name === name);
      expect([name, type]).toEqual([row?.name, row?.type]);
      expect([name, leftMs > 0]).toEqual([name, !row?.goes.startsWith("never")]);
    }
    const names = new Set(seen.map(({ name }) => name));
    // An answer that was read is gone; nothing was removed under a run that lives.
    const rare = ["linefeed:{<id>}:answer:<request>", "linefeed:{<id>}:removed"];
    expect(rows.filter(({ name }) => !names.has(name) && !rare.includes(name))).toEqual([]);
  });

  it("lets a user in who can do all that linefeed needs, and nothing else", async () => {
    const redis = await redisForTest();
    const [, words = ""] = page.split(/redis-cli -u \S+ (?=ACL SETUSER)/);
    await redis.call(aclWords(words));
    const url = redis.url().replace("redis://", "redis://linefeed:a-long-password@");
    const [here, elsewhere] = [new Machine(url), new Machine(url)];
    const script = scriptFile(["One.", "Two.", "Three."]);
    const flags = ["--keep-open", "--remote-control", "--retain", "1h", "--retain-lines", "100000"];
    const run = here.start(["-p", "x", "--json", "--fake", script, "--name", "first", ...flags]);
    const id = await run.sessionId();
    const attached = elsewhere.start(["attach", id]);
    await attached.untilSays('"turn_end"');
    for (const command of [
      ["send", "first", "more"],
      ["sessions"],
      ["stop", "first"],
      ["-r", "first", "-p", "more", "--fake", hello()],
      ["-r", "first", "--fork-session", "-p", "more", "--fake", hello(), "--name", "second"],
      ["attach", "second"],
      ["rm", "first", "second"],
    ])
      expect([command, await elsewhere.run(command)]).toMatchObject([command, OK]);
    await attached.ended;
    expect(attached.stderr).toBe("");
    expect(run.stderr).toBe("");
    const refused = await new Machine(url, { LINEFEED_REDIS_PREFIX: "other:" }).run(["sessions"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("lacks rights") });
  });

  it("lets a user in who can only look", async () => {
    const redis = await redisForTest();
    const [, , words = ""] = page.split(/redis-cli -u \S+ (?=ACL SETUSER)/);
    await redis.call(aclWords(words));
    const here = new Machine(redis.url());
    const viewer = new Machine(redis.url().replace("redis://", "redis://linefeed-viewer:another-password@"));
    const run = here.start(["-p", "x", "--json", "--fake", hello(), "--keep-open", "--remote-control"]);
    const id = await run.sessionId();
    const attached = viewer.start(["attach", id]);
    await attached.untilSays('"turn_end"');
    expect(await viewer.run(["sessions"])).toMatchObject(OK);
    for (const words of [
      ["stop", id],
      ["send", id, "more"],
      ["-p", "x", "--fake", hello()],
    ]) {
      const refused = await viewer.run(words);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("lacks rights") });
    }
    expect(await here.run(["stop", id])).toMatchObject(OK);
    expect(await attached.ended).toBe(143);
    const removal = await viewer.run(["rm", id]);
    expect(removal).toMatchObject({ code: 1, stderr: expect.stringContaining("lacks rights") });
  });

  it("says about how much a session takes", async () => {
    const redis = await redisForTest();
    const here = new Machine(redis.url());
    const script = scriptFile({
      chunk_characters: 20,
      answers: [bash("seq 3000"), "word ".repeat(20_000)],
    });
    const flags = ["--allowed-tools", "Bash", "--coalesce-ms", "0", "--json"];
    const run = await here.run(["-p", "x", "--fake", script, ...flags]);
    expect(run).toMatchObject(OK);
    const keys = (await redis.keys()).filter((key) => key !== "linefeed:sessions");
    const sizes = await Promise.all(
      keys.map(async (key) => Number(await redis.call(["MEMORY", "USAGE", key, "SAMPLES", 0]))),
    );
    const size = sizes.reduce((sum, one) => sum + one, 0);
    expect(page).toContain("a session takes 1.2 to 1.4 times the bytes of its log, and 6 KB");
    expect(run.events.length).toBeGreaterThan(3000);
    const times = (size - 6000) / run.stdout.length;
    // Another version of Redis, or of its allocator, may be a little off.
    expect(times).toBeGreaterThan(1.1);
    expect(times).toBeLessThan(1.5);
  });
});
