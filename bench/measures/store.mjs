import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RedisLog } from "../../dist/sessions/redis-log/log.js";
import { STORE_DEFAULTS } from "../../dist/sessions/redis-log/store.js";
import { runNode } from "../lib/child.mjs";
import { hasRedis, withRedis } from "../lib/redis.mjs";
import { sessionStream } from "../lib/session-stream.mjs";

/** Where the packages are that a store needs. */
const COMMAND = fileURLToPath(new URL("../../dist/bin/linefeed.js", import.meta.url));
const ID = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e99";
const BYTES = 100e6;
/** So many lines are what the budget is about. */
const LINES = 20_000;

const measure = {
  name: "store",
  rows: [
    {
      id: "ship",
      what: "20,000 lines of a session into a Redis on loopback",
      unit: "ms",
      judged: "value",
      budget: 1000,
    },
    { id: "rate", what: "the same", unit: "lines/s", judged: "value" },
    {
      id: "peak",
      what: "attach to a session of 100 MB in it: peak memory",
      unit: "MB",
      judged: "value",
      budget: 150,
    },
    { id: "replay", what: "the same: time", unit: "ms", judged: "value" },
  ],
  round: (place) => withRedis(place, (url) => measureWith(place, url)),
};

/** Empty where there is no Redis to measure with. */
export const store = hasRedis ? [measure] : [];
if (!hasRedis) console.error("store: left out, since there is no redis-server here");

async function measureWith(place, url) {
  const rate = await ship(url, join(place.folder, `sessions-${(runs += 1)}`));
  const args = ["attach", ID, "--store", url, "--no-follow", "--output-format", "jsonl"];
  const { peakMb, exitMs } = await runNode(place, [COMMAND, ...args], { usage: true });
  return {
    ship: { value: (LINES / rate) * 1000 },
    rate: { value: rate },
    peak: { value: peakMb },
    replay: { value: exitMs },
  };
}
let runs = 0;

/** Lines a second, from the first append until the store has all. */
async function ship(url, folder) {
  const writer = await new RedisLog({ url, ...STORE_DEFAULTS, remoteControl: false }, folder).create(ID);
  let lines = 0;
  const begun = performance.now();
  for (const text of sessionStream(BYTES)) {
    writer.append(text, false);
    lines += text.split("\n").length - 1;
    // As a run does between two writes.
    await new Promise(setImmediate);
  }
  writer.close();
  const missing = await writer.delivered(AbortSignal.timeout(60_000));
  if (missing) throw missing;
  return (lines / (performance.now() - begun)) * 1000;
}
