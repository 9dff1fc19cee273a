import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { livingProcesses } from "../../src/tools/process-table.ts";
import { ofType, runCli, temporaryFolder } from "../support/cli.ts";
import {
  bash,
  beginInBackground,
  faultsOf,
  hello,
  newState,
  writerOf,
  type State,
} from "../support/sessions.ts";

const isRunning = (pid: number) => livingProcesses().some((entry) => entry.pid === pid);

/** A session whose writer was killed in a call that has left its group. Gives its id, and the process of the call. */
async function killedInCall(state: State, flags: string[] = []): Promise<{ id: string; child: number }> {
  const cwd = temporaryFolder();
  const file = join(cwd, "pid");
  const script = [bash("setsid sleep 601 & echo $! $$ >new; mv new pid; exec sleep 600"), "never"];
  const id = await beginInBackground(state, script, ["-C", cwd, ...flags]);
  while (!existsSync(file)) await delay(20);
  const { pid } = writerOf(state, id);
  process.kill(pid, "SIGKILL");
  while (isRunning(pid)) await delay(5);
  const started = readFileSync(file, "utf8").split(" ").map(Number);
  onTestFinished(() => {
    for (const one of started.filter(isRunning)) process.kill(one, "SIGKILL");
  });
  const [child = 0] = started;
  expect(isRunning(child)).toBe(true);
  return { id, child };
}

describe.skipIf(process.platform !== "linux")("what the calls of a run have left that was killed", () => {
  it("SG-03, SG-06: is ended by the run that carries its session on, which says so", async () => {
    const state = newState();
    const { id, child } = await killedInCall(state);
    const run = await state.run(["-r", id, "-p", "x", "--fake", hello()]);
    expect(isRunning(child)).toBe(false);
    expect(ofType(run.events, "notice")).toMatchObject([
      { code: "children_ended", message: expect.stringContaining(`sleep 601 (${child})`) as string },
    ]);
    expect(faultsOf(state.log(id))).toEqual([]);
  });

  it.each(["stop", "rm"])("is ended by %s", async (command) => {
    const state = newState();
    const { id, child } = await killedInCall(state);
    expect(await runCli([command, id], { env: state.env })).toMatchObject({ code: 0, stderr: "" });
    expect(isRunning(child)).toBe(false);
  });

  it("lives on where the run said that it may", async () => {
    const state = newState();
    const { id, child } = await killedInCall(state, ["--keep-children"]);
    const run = await state.run(["-r", id, "-p", "x", "--fake", hello()]);
    expect(run.code).toBe(0);
    expect(isRunning(child)).toBe(true);
  });
});
