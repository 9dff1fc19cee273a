import { execFileSync } from "node:child_process";
import { hasRedisServer } from "./redis-binaries.ts";

/** The tests drive the built command: build it from the source that is there. */
export default function setup(): void {
  execFileSync(process.execPath, ["build.mjs"], { stdio: "inherit" });
  if (!hasRedisServer())
    process.stderr.write("skipped: the tests of the Redis store, since redis-server is not installed here\n");
}
