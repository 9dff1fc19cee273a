import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  AgentError,
  runAgent,
  StreamEndedError,
  type AgentRun,
  type LinefeedEvent,
  type RunAgentOptions,
  type StreamItem,
} from "../../../src/consume/index.ts";
import type { Script } from "../../../src/model/scripted/script.ts";
import { cleanEnv, joined, ofType, runCli, scriptFile, temporaryFolder } from "../../support/cli.ts";
import { lint } from "../../support/lint.ts";
import { linesOf } from "../support.ts";
import { rejection, tracedEnv, until } from "./support.ts";

// The real command.

const HELLO = ["Hello from here."];
const bash = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});
/** A call that starts a child and one that leaves the group, and waits. */
const BUSY = bash("sleep 97 & setsid sleep 98 & sleep 0.2; echo up; sleep 90");

/** Without keys; the model is a script. */
function start(answers: Script["answers"], options: RunAgentOptions = {}): AgentRun {
  return runAgent({ prompt: "hi", env: cleanEnv(), fake: scriptFile(answers), ...options });
}

async function all(run: AsyncIterable<StreamItem>): Promise<LinefeedEvent[]> {
  const events: LinefeedEvent[] = [];
  for await (const item of run) {
    if (item.type === "invalid" || item.type === "unknown") throw new Error(`not known: ${item.type}`);
    events.push(item);
  }
  return events;
}

const isUp = (item: StreamItem) => item.type === "tool_output_delta" && item.text.includes("up");

describe("a run", () => {
  it("gives the events that the command prints, and its result", async () => {
    const run = start(HELLO);
    expect(run.exit).toBeNull();
    const events = await all(run);
    expect(run.exit).toEqual({ code: 0, signal: null });
    expect(run.stderr).toBe("");
    const printed = await runCli(["-p", "hi", "--json", "--fake", scriptFile(HELLO)]);
    expect(events.map(({ type, seq }) => [type, seq])).toEqual(
      printed.events.map(({ type, seq }) => [type, seq]),
    );
    expect(ofType(events, "turn_start")[0]?.prompt).toBe("hi");
    await expect(run.result).resolves.toEqual(events.at(-1));
  });

  it("gives its result alone, too", async () => {
    expect(await start(HELLO).result).toMatchObject({ status: "ok", text: "Hello from here." });
  });

  it("gives both at once, in any order, and nothing is lost", async () => {
    const long = ["many words, ".repeat(4000)];
    const one = start(long, { coalesceMs: 0 });
    const other = start(long, { coalesceMs: 0 });
    const [events, result] = await Promise.all([all(one), one.result]);
    const [sameResult, sameEvents] = await Promise.all([other.result, all(other)]);
    for (const read of [
      { events, result },
      { events: sameEvents, result: sameResult },
    ]) {
      expect(read.events.map(({ seq }) => seq)).toEqual(read.events.map((_, index) => index + 1));
      expect(joined(read.events, "text_delta")).toBe(long[0]);
      expect(read.events.at(-1)).toEqual(read.result);
    }
  });

  it("that failed has a result that says so", async () => {
    const result = await runAgent({ prompt: "hi", env: cleanEnv(), fake: "no-such-script.json" }).result;
    expect(result).toMatchObject({ status: "error", exit_code: 2, error: { code: "config" } });
  });

  it("is read once", async () => {
    const run = start(HELLO);
    await all(run);
    await expect(all(run)).rejects.toThrow("looped over once");
    const other = start(HELLO);
    await other.result;
    await expect(all(other)).rejects.toThrow("begin the loop first");
  });

  it("that nobody waits for does no harm: no rejection is unhandled, and none outlives the program", async () => {
    const program = `
      import { runAgent } from ${JSON.stringify(resolve("dist/consume/index.js"))};
      runAgent({ prompt: "x", executable: "/no/such/program" });
      runAgent({ prompt: "x", executable: "false" });
      runAgent({ prompt: "x", executable: "true", signal: AbortSignal.abort() }).cancel();
      const run = runAgent({ executable: "false" });
      run.send("x").catch(() => {});
      console.log("fine");`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      "--input-type=module",
      "--eval",
      program,
    ]);
    expect({ stdout, stderr }).toEqual({ stdout: "fine\n", stderr: "" });
  });
});

describe("options", () => {
  it("reach the command: folder, environment, limits, tools", async () => {
    const folder = temporaryFolder();
    const events = await all(
      start([bash("echo $SOME_WORD; pwd"), "done"], {
        cwd: folder,
        env: cleanEnv({ SOME_WORD: "a word" }),
        allowedTools: ["Bash(echo *)", "Bash(pwd)"],
        tools: ["Bash"],
        model: "a-model",
        deltas: false,
      }),
    );
    expect(events[0]).toMatchObject({ cwd: folder, tools: ["Bash"], model: "a-model" });
    expect(ofType(events, "text_delta")).toEqual([]);
    expect((await start([BUSY, "no"], { maxSteps: 1, permissionMode: "plan" }).result).status).toBe("limit");
  });

  it("that are long or begin with dashes, and a prompt of any kind", async () => {
    const prompt = `--help me\u2028 \u{1F600} ${"x".repeat(1_000_000)}`;
    const [start1] = ofType(await all(start(HELLO, { prompt, systemPrompt: "--json" })), "turn_start");
    expect(start1?.prompt).toBe(prompt);
    const blocks = [{ type: "text" as const, text: "a block" }];
    const [start2] = ofType(await all(start(HELLO, { prompt: blocks })), "turn_start");
    expect(start2?.prompt).toEqual(blocks);
  });

  it("that have no name here go into `extraArgs`, and cannot take the lines away", async () => {
    const extraArgs = ["--max-steps", "1", "--output-format", "text"];
    const result = await start([bash("true"), "no"], { extraArgs, permissionMode: "bypass" }).result;
    expect(result).toMatchObject({ status: "limit", exit_code: 3 });
  });

  it("`executable` and `args` name another command", async () => {
    const path = resolve("dist/bin/linefeed.js");
    expect(await start(HELLO, { executable: path }).result).toMatchObject({ status: "ok" });
    const run = start(HELLO, { executable: "env", args: ["LANG=C", process.execPath, path] });
    expect(await run.result).toMatchObject({ status: "ok" });
  });
});

describe("several prompts", () => {
  it("are answered in turn, the next when the last is answered", async () => {
    const run = start(["one", "two", "three"], { keepOpen: true });
    const answers: (string | undefined)[] = [];
    const events: LinefeedEvent[] = [];
    for await (const event of run) {
      if (event.type !== "invalid" && event.type !== "unknown") events.push(event);
      if (event.type !== "turn_end") continue;
      answers.push(event.status);
      if (answers.length < 3) await run.send(`prompt ${answers.length + 1}`);
      else run.end();
    }
    expect(answers).toEqual(["ok", "ok", "ok"]);
    expect(lint(Buffer.from(linesOf(events)))).toEqual([]);
    expect(ofType(events, "turn_start").map(({ prompt }) => prompt)).toEqual(["hi", "prompt 2", "prompt 3"]);
    expect(await run.result).toMatchObject({ turns: 3, text: "three", exit_code: 0 });
  });

  it("without one to begin with the run waits", async () => {
    const run = runAgent({ env: cleanEnv(), fake: scriptFile(["one", "two"]) });
    await run.send("first");
    await run.send([{ type: "text", text: "second" }]);
    run.end();
    expect(await run.result).toMatchObject({ turns: 2, text: "two" });
  });

  it("are refused where none can come any more", async () => {
    const run = start(HELLO);
    const error = await rejection(run.send("more"), AgentError);
    expect(error).toMatchObject({ code: "usage", message: expect.stringContaining("keepOpen: true") });
    await run.result;
  });
});

describe("cancelling", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("by %s: the events go on to a result that says so", async (signal, code) => {
    const { env, living } = tracedEnv();
    const run = start([BUSY, "no"], { permissionMode: "bypass", env });
    const types: string[] = [];
    for await (const item of run) {
      types.push(item.type);
      if (isUp(item)) run.cancel(signal === "SIGTERM" ? undefined : signal);
    }
    expect(types.slice(-4)).toEqual(["tool_end", "step_end", "turn_end", "result"]);
    expect(await run.result).toMatchObject({ status: "cancelled", exit_code: code, signal });
    expect(run.exit).toEqual({ code: null, signal });
    expect(living()).toEqual([]);
  });

  it("by an AbortSignal", async () => {
    const controller = new AbortController();
    const run = start([BUSY, "no"], { permissionMode: "bypass", signal: controller.signal });
    for await (const item of run) if (isUp(item)) controller.abort();
    expect(await run.result).toMatchObject({ status: "cancelled", signal: "SIGTERM" });
  });

  it("at once: nothing is asked, and there is a last word all the same", async () => {
    const aborted = await start(HELLO, { signal: AbortSignal.abort() }).result;
    expect(aborted).toMatchObject({ status: "cancelled", turns: 0 });
    const run = start([{ content: [{ type: "text" as const, text: "slow" }], first_delay_ms: 60_000 }]);
    run.cancel();
    expect(await run.result).toMatchObject({ status: "cancelled" });
  });

  it("after the last word changes nothing", async () => {
    const controller = new AbortController();
    const run = start(HELLO, { signal: controller.signal });
    for await (const { type } of run) if (type === "result") run.cancel();
    controller.abort();
    run.cancel();
    expect(run.exit).toEqual({ code: 0, signal: null });
    expect(await run.result).toMatchObject({ status: "ok" });
  });
});

describe("nobody is left behind", () => {
  it("CO-11: when the loop is left early, and the result is still there", async () => {
    const { env, living } = tracedEnv();
    const run = start([BUSY, "no"], { permissionMode: "bypass", env });
    for await (const item of run) if (isUp(item)) break;
    expect(living()).toEqual([]);
    expect(await run.result).toMatchObject({ status: "cancelled" });
  });

  it("when the loop is left at the result, and the run was ok", async () => {
    const run = start(HELLO);
    for await (const { type } of run) if (type === "result") break;
    expect(run.exit).toEqual({ code: 0, signal: null });
    expect(await run.result).toMatchObject({ status: "ok" });
  });

  it("when the run is disposed of, whether or not it was read", async () => {
    const { env, living } = tracedEnv();
    await start([BUSY, "no"], { permissionMode: "bypass", env })[Symbol.asyncDispose]();
    expect(living()).toEqual([]);
  });

  it("CO-09: when linefeed is killed in the middle of a call", async () => {
    const { env, living } = tracedEnv();
    const run = start([BUSY, "no"], { permissionMode: "bypass", env });
    const looping = (async () => {
      for await (const item of run) if (isUp(item)) process.kill(run.pid ?? 0, "SIGKILL");
    })();
    const error = await rejection(looping, StreamEndedError);
    expect(error).toMatchObject({ code: "lost_worker", signal: "SIGKILL", exitCode: null });
    expect(error.lastSeq).toBeGreaterThan(3);
    expect(living()).toEqual([]);
  });

  it("but what is meant to live on does, with `keepChildren`", async () => {
    const { env, living } = tracedEnv();
    const call = bash("sleep 96 >/dev/null 2>&1 &");
    const run = start([call, "no"], { permissionMode: "bypass", keepChildren: true, env });
    const [child] = (await run.result).children_left;
    expect(living()).toEqual([expect.stringContaining("sleep 96")]);
    process.kill(child?.pid ?? 0);
  });

  it.each([
    ["is killed", 'process.kill(process.pid, "SIGKILL")'],
    ["exits", "process.exit(0)"],
  ])("when the program that started it %s", async (_, end) => {
    const { env, living } = tracedEnv();
    const mark = join(temporaryFolder(), "up");
    const program = `
      import { runAgent } from ${JSON.stringify(resolve("dist/consume/index.js"))};
      import { writeFileSync } from "node:fs";
      const fake = ${JSON.stringify(scriptFile([BUSY, "no"]))};
      for await (const item of runAgent({ prompt: "x", fake, permissionMode: "bypass" })) {
        if (item.type !== "tool_output_delta") continue;
        writeFileSync(${JSON.stringify(mark)}, "");
        ${end};
      }`;
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { env }).catch(
      () => undefined,
    );
    expect(existsSync(mark)).toBe(true);
    // Nobody can wait for it any more; it sees by itself that nobody is there.
    await until(() => living().length === 0);
  });

  it("100 runs side by side under one signal: all end, none stays, nothing is warned of", async () => {
    const { env, living } = tracedEnv();
    const controller = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const descriptors = openFiles();
    const runs = Array.from({ length: 100 }, (_, index) =>
      start(index % 4 === 0 ? [BUSY, "no"] : HELLO, {
        permissionMode: "bypass",
        signal: controller.signal,
        env,
      }),
    );
    const busy = runs.filter((_, index) => index % 4 === 0);
    const brief = runs.filter((_, index) => index % 4 !== 0);
    const statuses = await Promise.all(brief.map(async (run) => (await run.result).status));
    expect(new Set(statuses)).toEqual(new Set(["ok"]));
    // One half of the others is left in the middle, the other half is cancelled.
    const [left, cancelled] = [busy.slice(0, 12), busy.slice(12)];
    await Promise.all(
      left.map(async (run) => {
        for await (const item of run) if (isUp(item)) break;
      }),
    );
    controller.abort();
    for (const run of cancelled) expect((await run.result).status).toBe("cancelled");
    expect(living()).toEqual([]);
    expect(openFiles()).toBeLessThanOrEqual(descriptors + 5);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});

function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}
