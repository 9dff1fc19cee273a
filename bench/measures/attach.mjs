import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { blockStart, blockStop, delta, head, tail, textOf } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { sessionStream } from "../lib/session-stream.mjs";
import { quantile } from "../lib/stats.mjs";
import { lineSplitter } from "../lib/stream.mjs";

/** A session of this benchmark, whose id stands on its lines too. */
const LONG_ID = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97";
const PACED_ID = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e98";
const LONG_BYTES = 1e9;
const DELTAS = 400;
const PACE_MS = 5;
/** By then the reader has attached; what came before is replayed, not followed. */
const WARM_UP = 100;

export const attach = {
  name: "attach",
  rows: [
    {
      id: "long",
      what: "attach to a log of 1 GB, raw lines into a pipe",
      yardstick: "`cat` into the same pipe",
      unit: "ms",
      judged: "ratio",
      budget: 2,
    },
    { id: "p50", what: "from a run's stdout to that of who is attached, p50", unit: "ms", judged: "value" },
    { id: "p99", what: "the same, p99", unit: "ms", judged: "value", budget: 20 },
  ],
  async round(place) {
    const log = longLog(place);
    const cat = timeOf(place, `cat "${log}"`);
    const value = timeOf(
      place,
      `"${process.execPath}" "${place.command}" attach ${LONG_ID} --no-follow --output-format jsonl`,
    );
    const times = await followTimes(place);
    return {
      long: { value, yardstick: cat },
      p50: { value: quantile(times, 0.5) },
      p99: { value: quantile(times, 0.99) },
    };
  },
};

const stateOf = (place) => join(place.folder, "state");
const folderOf = (place, id) => join(stateOf(place), "linefeed", "sessions", id);

/** Written in the first round. */
function longLog(place) {
  const folder = folderOf(place, LONG_ID);
  const path = join(folder, "events.jsonl");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const out = openSync(path, "w", 0o600);
  for (const text of sessionStream(LONG_BYTES)) writeSync(out, text);
  closeSync(out);
  return path;
}

/** How long a command takes to bring its output through a pipe, in ms. */
function timeOf(place, command) {
  const begun = performance.now();
  const { status, stderr } = spawnSync("sh", ["-c", `${command} | cat > /dev/null`], {
    env: { PATH: process.env.PATH, HOME: place.home, LINEFEED_STATE_DIR: stateOf(place) },
    encoding: "utf8",
  });
  if (status !== 0 || stderr !== "") throw new Error(`${command} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
}

/** For each line of a paced run the time from its arrival at the run's reader to that at who is attached to it. */
async function followTimes(place) {
  const id = PACED_ID.slice(0, -6) + String(followTimes.runs++).padStart(6, "0");
  const env = { LINEFEED_STATE_DIR: stateOf(place) };
  const printed = new Map();
  const times = [];
  const onPrinted = lineSplitter((line, at) => printed.set(JSON.parse(line).seq, at));
  const onAttached = lineSplitter((line, at) => {
    const { type, seq } = JSON.parse(line);
    if (type === "text_delta" && seq > WARM_UP) times.push([seq, at]);
  });
  await withServer(paced, async (server) => {
    const args = ["-p", "x", "--json", "--coalesce-ms", "0", "--session-id", id];
    const run = runNode(place, [place.command, ...args], {
      env: { ...server.env, ...env },
      onData: onPrinted,
    });
    while (printed.size === 0) await sleep(5);
    await Promise.all([
      run,
      runNode(place, [place.command, "attach", id, "--output-format", "jsonl"], { env, onData: onAttached }),
    ]);
  });
  if (times.length < (DELTAS - WARM_UP) / 2) throw new Error(`only ${times.length} lines were followed`);
  return times.map(([seq, at]) => Math.max(0, at - printed.get(seq)));
}
followTimes.runs = 0;

async function paced(response) {
  response.write(head() + blockStart(0));
  for (let count = 0; count < DELTAS; count += 1) {
    await sleep(PACE_MS);
    response.write(delta(0, textOf(4)));
  }
  response.end(blockStop(0) + tail());
}
