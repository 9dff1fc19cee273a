import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const HOOK = fileURLToPath(new URL("usage-hook.mjs", import.meta.url));
/** No measured run takes anywhere near as long; a hung one must not hang the benchmark. */
const TIMEOUT_MS = 120_000;

let runs = 0;

/**
 * Runs Node with these arguments and reads its stdout through a real pipe, as a shell's `|` makes one
 * (Node's own `stdio: "pipe"` is a socket pair, which programs treat differently).
 *
 * `usage`: also measure CPU time and peak memory; costs a module load, so not where time is measured.
 * `stallMs`: read nothing for so long. `onData(bytes, at)`: called for each read.
 */
export async function runNode(place, args, { env = {}, usage = false, stallMs = 0, onData } = {}) {
  runs += 1;
  const usageFile = join(place.folder, `usage-${runs}.json`);
  const { readEnd, writeEnd } = makePipe(join(place.folder, `pipe-${runs}`));
  const started = performance.now();
  const child = spawn(process.execPath, usage ? ["--import", HOOK, ...args] : args, {
    cwd: place.work,
    env: cleanEnvironment(place, { ...env, ...(usage ? { BENCH_USAGE: usageFile } : {}) }),
    stdio: ["ignore", writeEnd, "pipe"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const exited = once(child, "exit").then(([code, signal]) => ({
    code: code ?? signal,
    exitMs: performance.now() - started,
  }));
  closeSync(writeEnd);
  let stderr = "";
  child.stderr.on("data", (text) => (stderr += text));
  if (stallMs > 0) await sleep(stallMs);
  const [{ code, exitMs }, { stdout, firstMs }] = await Promise.all([
    exited,
    collect(readEnd, started, onData),
  ]);
  if (code !== 0 || stderr !== "")
    throw new Error(`a measured run ended with ${code}: ${stderr || "no stderr"}`);
  return { started, exitMs, firstMs, stdout, ...(usage ? takeUsage(usageFile) : {}) };
}

/**
 * Only what a run needs. NODE_EXTRA_CA_CERTS alone, say, more than doubles Node's start, and proxies, keys and
 * NODE_OPTIONS of whoever runs this would be measured too.
 */
function cleanEnvironment(place, more) {
  return { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: place.home, TMPDIR: place.tmp, ...more };
}

function makePipe(path) {
  execFileSync("mkfifo", ["-m", "600", path]);
  // The reading end first and without waiting for a writer; the writer then finds a reader.
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = openSync(path, constants.O_WRONLY);
  rmSync(path);
  return { readEnd, writeEnd };
}

/** Reads to the end; `firstMs` is when the first bytes came. */
async function collect(fd, started, onData) {
  const parts = [];
  let firstMs;
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", (bytes) => {
    const at = performance.now();
    firstMs ??= at - started;
    parts.push(bytes);
    onData?.(bytes, at);
  });
  await once(socket, "close");
  return { stdout: Buffer.concat(parts), firstMs };
}

function takeUsage(file) {
  const usage = JSON.parse(readFileSync(file, "utf8"));
  rmSync(file);
  return usage;
}
