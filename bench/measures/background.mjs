import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { burst } from "../lib/answers.mjs";
import { withServer } from "../lib/server.mjs";
import { median } from "../lib/stats.mjs";

const SESSIONS = 100;
/** So many are started at a time. */
const STARTERS = 4;
const run = promisify(execFile);

export const background = {
  name: "background",
  rows: [
    {
      id: "pss",
      what: `${SESSIONS} background sessions at once: proportional size of one, median`,
      unit: "MB",
      judged: "value",
      budget: 45,
    },
    { id: "pss-max", what: "the same, the largest", unit: "MB", judged: "value" },
    {
      id: "start",
      what: "`--bg`, from spawn to its end, while the others run, median",
      unit: "ms",
      judged: "value",
    },
  ],
  async round(place) {
    const env = {
      PATH: process.env.PATH,
      HOME: place.home,
      LINEFEED_STATE_DIR: join(place.folder, "background"),
    };
    const linefeed = (server, args) =>
      run(process.execPath, [place.command, ...args], { env: { ...env, ...server.env }, cwd: place.work });
    let answer = () => {};
    const go = new Promise((resolve) => (answer = resolve));
    // All wait for the model at the same time; then all are answered.
    const reply = (response) => void go.then(() => response.end(burst(50, 4)));
    return withServer(reply, async (server) => {
      const starts = [];
      const work = async () => {
        while (starts.length < SESSIONS) {
          const begun = performance.now();
          starts.push(0);
          const index = starts.length - 1;
          await linefeed(server, ["--bg", "-p", "x"]);
          starts[index] = performance.now() - begun;
        }
      };
      await Promise.all(Array.from({ length: STARTERS }, work));
      const sizes = await sizesOf(await sessions(server, linefeed));
      answer();
      await allDone(server, linefeed);
      return {
        pss: { value: median(sizes) },
        "pss-max": { value: Math.max(...sizes) },
        start: { value: median(starts) },
      };
    });
  },
};

async function sessions(server, linefeed) {
  const { stdout } = await linefeed(server, [
    "sessions",
    "--output-format",
    "jsonl",
    "--limit",
    String(10 * SESSIONS),
  ]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The proportional sizes of the processes that run, in MB. */
async function sizesOf(list) {
  const running = list.filter(({ state }) => state === "running");
  if (running.length !== SESSIONS) throw new Error(`${running.length} of ${SESSIONS} sessions run`);
  return running.map(({ pid }) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
  });
}

async function allDone(server, linefeed) {
  for (let tries = 0; tries < 600; tries += 1) {
    const list = await sessions(server, linefeed);
    if (list.every(({ state }) => state === "done")) return;
    await sleep(100);
  }
  throw new Error("not all sessions ended well");
}
