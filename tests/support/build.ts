import { execFileSync } from "node:child_process";

/** The tests drive the built command: build it from the source that is there. */
export default function setup(): void {
  execFileSync(process.execPath, ["build.mjs"], { stdio: "inherit" });
}
