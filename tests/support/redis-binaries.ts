import { spawnSync } from "node:child_process";

/** Whether tests can start a redis-server here. */
export function hasRedisServer(): boolean {
  return ["redis-server", "redis-cli"].every((name) => spawnSync(name, ["--version"]).status === 0);
}
