import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { RedisLog } from "../../../src/sessions/redis-log/log.ts";
import { sessionKeys } from "../../../src/sessions/redis-log/keys.ts";
import type { RedisStore } from "../../../src/sessions/redis-log/store.ts";
import { AskedProcess } from "../../support/asked-process.ts";
import { describeWithRedis, RedisServer } from "../../support/redis-server.ts";
import { newState, storeSession } from "../../support/sessions.ts";
import type { Place } from "../conformance/place.ts";
import { describeEventLog } from "../event-log-conformance.ts";

/** Long enough for what is asked of a writer that is stopped. */
const LEASE_MS = 5000;
const ELSEWHERE = { host: "another", boot_id: "another" };

describeWithRedis("with a Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start({ keepsData: false });
  });
  afterAll(() => server.remove());

  // Its cases of the fault list are those of the files: LG-02, LG-06, BG-01, BG-03, BG-04, BG-05, BG-06, BG-08, BG-14.
  describeEventLog("Redis", () => redisPlace(server));
});

function redisPlace(server: RedisServer): Place {
  const state = newState();
  const prefix = `${randomUUID().slice(0, 8)}:`;
  const store: RedisStore = { url: server.url(), prefix, leaseMs: LEASE_MS, remoteControl: true };
  const module = resolve("dist/sessions/redis-log/log.js");
  const call = (...args: (string | number)[]) => server.call(args);
  const age = async (id: string, ageMs: number) =>
    void (await call("HSET", sessionKeys(prefix, id).meta, "written", Date.now() - ageMs));
  return {
    log: () => new RedisLog(store, state.sessions),
    writer: () =>
      AskedProcess.start("tests/sessions/conformance/log-writer.mjs", [
        module,
        "RedisLog",
        JSON.stringify([store, state.sessions]),
      ]),
    /** In the store, and in the files of this machine. */
    async leave(lines, { id: wanted, name, cwd = "/w", ageMs = 60_000, elsewhere = false } = {}) {
      const meta = { name, cwd, model: "m", ...(elsewhere ? ELSEWHERE : {}) };
      const id = storeSession(state, lines, { meta, id: wanted, ageMs });
      const keys = sessionKeys(prefix, id);
      const whole = wholeLines(lines);
      const entries = whole.map((line, index) => ["XADD", keys.log, `${index + 1}-0`, "l", line]);
      for (const entry of entries) await call(...entry);
      const log = lines === undefined ? [] : ["log", randomUUID(), "seq", whole.length];
      await call("HSET", keys.meta, "about", JSON.stringify(meta), "writer", "w", ...log);
      await call("ZADD", `${prefix}sessions`, Date.now(), id);
      await age(id, ageMs);
      return id;
    },
    /** What the file has; all that is whole of it is in the store. */
    async bytes(id) {
      const file = readFileSync(state.log(id));
      const { log } = sessionKeys(prefix, id);
      const kept = (await call("XRANGE", log, "-", "+")) as [string, [string, string]][];
      const stored = kept.map(([, [, line]]) => `${line}\n`).join("");
      expect(stored).toBe(file.subarray(0, file.lastIndexOf(10) + 1).toString("utf8"));
      return file;
    },
    age,
    async harm(id, change) {
      const keys = sessionKeys(prefix, id);
      // Its writer would make it whole again, so it is nobody's.
      await call("DEL", keys.lease);
      if (change === "removed") {
        await call("SET", keys.removed, 1);
        await call("DEL", keys.meta, keys.log);
        return;
      }
      await call("HSET", keys.meta, "writer", "another");
      if (change === "replaced") {
        await call("HSET", keys.meta, "log", "another");
        return;
      }
      await call("XTRIM", keys.log, "MAXLEN", 0);
      await call("HSET", keys.meta, "seq", 0);
    },
    seesAllMachines: true,
    goneAfterMs: LEASE_MS * 2,
  };
}

function wholeLines(lines: string | Buffer | undefined): string[] {
  const text = lines === undefined ? "" : lines.toString();
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1);
}
