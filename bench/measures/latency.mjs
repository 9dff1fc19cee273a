import { setTimeout as sleep } from "node:timers/promises";
import { blockStart, blockStop, delta, head, tail, textOf } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { quantile } from "../lib/stats.mjs";
import { lineSplitter } from "../lib/stream.mjs";
import { RAW_HTTP } from "./deltas.mjs";

const BLOCKS = 25;
const PER_BLOCK = 12;
const CHARACTERS = 4;
/** Not a divisor of the window, so that deltas fall everywhere in it. */
const PACE_MS = 7;
const WINDOW_MS = 50;

const shared = { yardstick: "bare script, p50", unit: "ms", judged: "extra" };

export const latency = {
  name: "latency",
  rows: [
    { id: "first-p50", what: "first delta of a block, p50", ...shared },
    { id: "first-p95", what: "first delta of a block, p95", ...shared, budget: 5 },
    { id: "later-p50", what: "later deltas, p50", ...shared },
    { id: "later-p95", what: "later deltas, p95", ...shared, budget: WINDOW_MS + 5 },
    { id: "unmerged-p95", what: "later deltas with `--coalesce-ms 0`, p95", ...shared },
  ],
  async round(place) {
    const raw = await measure(place, (server) => [RAW_HTTP, server.env.ANTHROPIC_BASE_URL]);
    const args = [place.command, "-p", "x", "--json"];
    const merged = await measure(place, () => args);
    const unmerged = await measure(place, () => [...args, "--coalesce-ms", "0"]);
    const of = (times, share, floor) => ({ value: quantile(times, share), yardstick: quantile(floor, 0.5) });
    return {
      "first-p50": of(merged.first, 0.5, raw.first),
      "first-p95": of(merged.first, 0.95, raw.first),
      "later-p50": of(merged.later, 0.5, raw.later),
      "later-p95": of(merged.later, 0.95, raw.later),
      "unmerged-p95": of(unmerged.later, 0.95, raw.later),
    };
  },
};

/** For every delta the time from the server's write to the read that completed its line. */
async function measure(place, argsFor) {
  const written = [];
  const arrived = [];
  let characters = 0;
  const onData = lineSplitter((line, at) => {
    if (!line.startsWith('{"type":"text_delta"')) return;
    characters += JSON.parse(line).text.length;
    // Merged or not, the text is in order: its length says which deltas have come.
    while (arrived.length < Math.floor(characters / CHARACTERS)) arrived.push(at);
  });
  await withServer(
    (response) => stream(response, written),
    (server) => runNode(place, argsFor(server), { env: server.env, onData }),
  );
  if (arrived.length !== BLOCKS * PER_BLOCK) throw new Error(`${arrived.length} deltas arrived`);
  const times = written.map((at, index) => arrived[index] - at);
  // The first block is the warm-up of both programs: modules and code that run for the first time.
  const counted = [...times.entries()].slice(PER_BLOCK);
  return {
    first: counted.filter(([index]) => index % PER_BLOCK === 0).map(([, time]) => time),
    later: counted.filter(([index]) => index % PER_BLOCK !== 0).map(([, time]) => time),
  };
}

async function stream(response, written) {
  response.write(head());
  for (let block = 0; block < BLOCKS; block += 1) {
    for (let count = 0; count < PER_BLOCK; count += 1) {
      await sleep(PACE_MS);
      const start = count === 0 ? blockStart(block) : "";
      const stop = count === PER_BLOCK - 1 ? blockStop(block) : "";
      written.push(performance.now());
      response.write(start + delta(block, textOf(CHARACTERS)) + stop);
    }
  }
  response.end(tail());
}
