import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Whether a redis-server can be started here. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** Runs `work(url)` beside a Redis of its own on loopback, which keeps nothing on disk. */
export async function withRedis(place, work) {
  // Not a port that the system gives to clients.
  const port = 10_000 + Math.floor(Math.random() * 22_000);
  const settings = { bind: "127.0.0.1", port, dir: place.tmp, save: "", appendonly: "no" };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn("redis-server", args, { stdio: "ignore" });
  const ended = once(server, "exit");
  try {
    await untilReady(server, port);
    return await work(`redis://127.0.0.1:${port}/0`);
  } finally {
    server.kill("SIGKILL");
    await ended;
  }
}

async function untilReady(server, port) {
  while (spawnSync("redis-cli", ["-p", String(port), "ping"]).status !== 0) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    await sleep(20);
  }
}
