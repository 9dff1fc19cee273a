import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  AgentError,
  InvalidLineError,
  runAgent,
  SpawnError,
  StreamEndedError,
  type AgentRun,
  type StreamItem,
} from "../../../src/consume/index.ts";
import { temporaryFolder } from "../../support/cli.ts";
import { misbehaving, rejection, tracedEnv, until } from "./support.ts";

// Programs that do what linefeed never does.

async function typesOf(run: AgentRun): Promise<string[]> {
  const types: string[] = [];
  for await (const item of run) types.push(item.type);
  return types;
}

describe("a stream that ends in an odd way", () => {
  it("CO-08: a last line without LF comes once, though a grandchild holds the pipe", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({
      ...misbehaving(`
        say(INIT);
        for (let i = 0; i < 2000; i++) say(NOTICE);
        spawn("sleep", ["60"], { stdio: ["ignore", 1, 2], detached: true }).unref();
        say(RESULT.trimEnd());`),
      prompt: "x",
      env,
    });
    const types = await typesOf(run);
    expect(types.filter((type) => type === "notice")).toHaveLength(2000);
    expect(types.slice(-2)).toEqual(["notice", "result"]);
    await expect(run.result).resolves.toMatchObject({ status: "ok" });
    // It ended by itself, with a last word: what it meant to leave is left.
    expect(living()).toHaveLength(1);
    process.kill(Number.parseInt(living()[0] ?? "", 10));
  });

  it("CO-08: a grandchild that goes on printing holds nobody up", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({
      ...misbehaving(`
        spawn("sh", ["-c", "while :; do echo noise; sleep 0.02; done"], { stdio: ["ignore", 1, 2], detached: true }).unref();
        say(INIT);`),
      prompt: "x",
      env,
    });
    const error = await rejection(run.result, StreamEndedError);
    expect(error).toMatchObject({ code: "lost_worker", exitCode: 0, signal: null, lastSeq: 1 });
    expect(living()).toEqual([]);
  });

  it("CO-09: death by a signal is a typed failure with the signal's name", async () => {
    const run = runAgent({
      ...misbehaving(
        `say(INIT); say(NOTICE); say("cannot go on\\n", 2); process.kill(process.pid, "SIGKILL");`,
      ),
      prompt: "x",
    });
    const seen: StreamItem[] = [];
    const looping = (async () => {
      for await (const item of run) seen.push(item);
    })();
    const error = await rejection(looping, StreamEndedError);
    expect(seen.map(({ type }) => type)).toEqual(["init", "notice"]);
    expect(error).toMatchObject({ exitCode: null, signal: "SIGKILL", lastSeq: 2, stderr: "cannot go on\n" });
    expect(error.message).toBe(
      "the process was ended by SIGKILL after event 2, without a result; on stderr: cannot go on",
    );
    await expect(run.result).rejects.toBe(error);
    expect(run.exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("CO-09: an end without a result is none, whatever the exit code", async () => {
    const error = await rejection(
      runAgent({ ...misbehaving("say(INIT);"), prompt: "x" }).result,
      StreamEndedError,
    );
    expect(error).toMatchObject({ exitCode: 0, signal: null, lastSeq: 1 });
  });

  it("a process that closes stdout and lives on is ended", async () => {
    const { env, living } = tracedEnv();
    const { result } = runAgent({
      ...misbehaving("say(INIT); fs.closeSync(1); alive();"),
      prompt: "x",
      env,
      killAfterMs: 100,
    });
    expect(await rejection(result, StreamEndedError)).toMatchObject({ signal: "SIGTERM" });
    expect(living()).toEqual([]);
  });

  it("a process that lives on after its result is ended, and the result counts", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({
      ...misbehaving(`process.on("SIGTERM", () => {}); say(INIT + RESULT); alive();`),
      prompt: "x",
      env,
      killAfterMs: 100,
    });
    expect(await typesOf(run)).toEqual(["init", "result"]);
    expect(run.exit?.signal).toBe("SIGKILL");
    await expect(run.result).resolves.toMatchObject({ status: "ok" });
    expect(living()).toEqual([]);
  });

  it("an exit code that is not the result's is to be seen, and the result counts", async () => {
    const run = runAgent({ ...misbehaving("say(INIT + RESULT); process.exitCode = 7;"), prompt: "x" });
    await expect(run.result).resolves.toMatchObject({ exit_code: 0 });
    expect(run.exit).toEqual({ code: 7, signal: null });
  });
});

describe("what is no event", () => {
  const garbage = misbehaving.bind(null, `say("Welcome!\\n" + INIT + "{half\\n" + RESULT);`);

  it("CO-05: garbage is told in its place", async () => {
    expect(await typesOf(runAgent({ ...garbage(), prompt: "x" }))).toEqual([
      "invalid",
      "init",
      "invalid",
      "result",
    ]);
    expect(await typesOf(runAgent({ ...garbage(), prompt: "x", onInvalid: "skip" }))).toEqual([
      "init",
      "result",
    ]);
  });

  it("is thrown on request, and ends the process even if it ignores SIGTERM", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({
      ...misbehaving(`process.on("SIGTERM", () => {}); say("Welcome!\\n"); alive();`),
      prompt: "x",
      onInvalid: "throw",
      env,
      killAfterMs: 100,
    });
    const error = await rejection(typesOf(run), InvalidLineError);
    await expect(run.result).rejects.toBe(error);
    expect(living()).toEqual([]);
  });

  it("is named when there is nothing else", async () => {
    const { result } = runAgent({ executable: "echo", prompt: "x" });
    expect((await rejection(result, StreamEndedError)).message).toMatch(
      /exited with 0 before its first event, without a result; line 1: not JSON/,
    );
  });
});

describe("stderr", () => {
  it("50 MB of it hold nobody up, and the end of it is kept", async () => {
    const run = runAgent({
      ...misbehaving(`
        say(INIT);
        for (let i = 0; i < 800; i++) say("é".repeat(32_768), 2);
        say("the last words", 2);
        say(RESULT);`),
      prompt: "x",
    });
    await expect(run.result).resolves.toMatchObject({ status: "ok" });
    expect(Buffer.byteLength(run.stderr)).toBeLessThan(17_000);
    expect(run.stderr).toMatch(/^…é+the last words$/);
  });

  it("a grandchild that holds it holds nobody up", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({
      ...misbehaving(
        `spawn("sleep", ["60"], { stdio: ["ignore", "ignore", 2] }).unref(); say("why\\n", 2); say(INIT);`,
      ),
      prompt: "x",
      env,
    });
    expect(await rejection(run.result, StreamEndedError)).toMatchObject({ stderr: "why\n" });
    expect(living()).toEqual([]);
  });
});

describe("ending it", () => {
  const stubborn = `
    process.on("SIGTERM", () => {});
    spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.error('up')"],
      { stdio: ["ignore", "ignore", "pipe"], detached: true }).stderr.once("data", () => say(INIT));
    alive();`;

  it("CO-11: leaving the loop ends it and what it has started, though both ignore SIGTERM", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({ ...misbehaving(stubborn), prompt: "x", env, killAfterMs: 100 });
    for await (const { type } of run) {
      expect(type).toBe("init");
      expect(living()).toHaveLength(2);
      break;
    }
    expect(living()).toEqual([]);
    expect(run.pid).toBeGreaterThan(1);
    const error = await rejection(run.result, StreamEndedError);
    expect(error).toMatchObject({ signal: "SIGKILL", lastSeq: 1 });
    expect(error.message).toContain("it was killed, since it did not end when it was asked to");
  });

  it("CO-11: so does an error that is thrown in the loop, which is not lost", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({ ...misbehaving(stubborn), prompt: "x", env, killAfterMs: 100 });
    const looping = (async () => {
      for await (const item of run) throw new Error(`no ${item.type}, please`);
    })();
    await expect(looping).rejects.toThrow("no init, please");
    expect(living()).toEqual([]);
  });

  it("a stopped process is ended too, and what a shell has left behind in its group", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({
      ...misbehaving(
        `spawn("sleep", ["60"]); say(INIT); setTimeout(() => process.kill(process.pid, "SIGSTOP"), 10);`,
      ),
      prompt: "x",
      env,
    });
    for await (const _ of run) {
      await delay(50);
      break;
    }
    expect(run.exit?.signal).toBe("SIGTERM");
    expect(living()).toEqual([]);
  });

  it("a loop that waits is let go by cancel, by dispose, and by its own return", async () => {
    for (const end of [
      (run: AgentRun) => run.cancel(),
      (run: AgentRun) => run[Symbol.asyncDispose](),
      (_run: AgentRun, events: AsyncIterator<StreamItem>) => events.return?.(),
    ]) {
      const run = runAgent({ ...misbehaving("say(INIT); alive();"), prompt: "x" });
      const events = run[Symbol.asyncIterator]();
      expect((await events.next()).value).toMatchObject({ type: "init" });
      const next = events.next().catch((error: unknown) => error);
      await end(run, events);
      await next;
      expect(await rejection(run.result, StreamEndedError)).toMatchObject({ signal: "SIGTERM" });
    }
  });

  it("an abort's reason is the cause of the failure", async () => {
    const controller = new AbortController();
    const run = runAgent({
      ...misbehaving("say(INIT); alive();"),
      prompt: "x",
      signal: controller.signal,
    });
    for await (const _ of run) {
      controller.abort(new Error("enough"));
      break;
    }
    const { cause } = await rejection(run.result, StreamEndedError);
    expect(cause).toEqual(new Error("enough"));
  });
});

describe("prompts", () => {
  it("CO-13: a process that closes stdin and sleeps gets no prompt, and the sender hears of it", async () => {
    const { env, living } = tracedEnv();
    const run = runAgent({ ...misbehaving("fs.closeSync(0); say(INIT); alive();"), env });
    for await (const _ of run) {
      const error = await rejection(run.send("hello?"), AgentError);
      expect(error.code).toBe("io");
      expect(await rejection(run.send("hello again?"), AgentError)).toMatchObject({ code: "io" });
      break;
    }
    expect(living()).toEqual([]);
  });

  it("CO-13: a prompt that is never read is let go with the process", async () => {
    const run = runAgent({ ...misbehaving("say(INIT); alive();") });
    const sent = rejection(run.send("x".repeat(5_000_000)), AgentError);
    for await (const _ of run) break;
    expect((await sent).code).toBe("io");
    expect(await rejection(run.send("?"), AgentError)).toMatchObject({ code: "io" });
  });
});

describe("what cannot be started", () => {
  const failure = (options: Parameters<typeof runAgent>[0]) =>
    rejection(runAgent({ prompt: "x", ...options }).result, SpawnError);

  it("says what to do", async () => {
    expect(await failure({ executable: "/no/such/linefeed" })).toMatchObject({
      code: "config",
      errno: "ENOENT",
      message: expect.stringContaining("say with `executable` where it is"),
    });
    expect(await failure({ cwd: "/no/such/folder" })).toMatchObject({
      code: "config",
      message: expect.stringContaining("no folder /no/such/folder"),
    });
    const path = join(temporaryFolder(), "not-executable");
    writeFileSync(path, "");
    chmodSync(path, 0o600);
    expect(await failure({ executable: path })).toMatchObject({
      errno: "EACCES",
      message: expect.stringContaining("chmod +x"),
    });
    expect(await failure({ systemPrompt: "x".repeat(3_000_000) })).toMatchObject({
      code: "usage",
      errno: "E2BIG",
      message: expect.stringContaining("put long texts into files"),
    });
    expect(await failure({ systemPrompt: "a\0b" })).toMatchObject({ code: "usage" });
  });

  it("throws in the loop, and everything else about it stays quiet", async () => {
    const run = runAgent({ executable: "/no/such/linefeed", keepOpen: true, prompt: "x" });
    expect(run.pid).toBeUndefined();
    run.cancel();
    run.end();
    await rejection(typesOf(run), SpawnError);
    await run[Symbol.asyncDispose]();
    expect(run.exit).toBeNull();
  });

  it("wrong options throw at once, and nothing is started", () => {
    const { env, living } = tracedEnv();
    const wrong = (options: object) => () => runAgent({ prompt: "x", env, ...options });
    expect(wrong({ prompt: 1 })).toThrow(TypeError);
    expect(wrong({ maxSteps: "3" })).toThrow("`maxSteps` of runAgent is a number");
    expect(wrong({ tools: "Read" })).toThrow("`tools` of runAgent is an array of strings");
    expect(wrong({ signal: {} })).toThrow("`signal` of runAgent is an AbortSignal");
    expect(wrong({ extraArgs: [1] })).toThrow("`extraArgs`");
    expect(wrong({ killAfterMs: Number.NaN })).toThrow(RangeError);
    expect(wrong({ onInvalid: "ignore" })).toThrow("onInvalid");
    expect(wrong({ maxLineBytes: -1 })).toThrow("maxLineBytes");
    expect(living()).toEqual([]);
  });
});

describe("pace", () => {
  const flood = `
    say(INIT);
    const path = process.argv[2];
    for (let i = 1; i <= 20_000; i++) { say(NOTICE); if (i % 100 === 0) fs.writeFileSync(path, String(i)); }
    say(RESULT);`;

  it("a loop that is busy holds the process back; once `result` is asked for, it does not", async () => {
    const written = join(temporaryFolder(), "written");
    const { executable, args = [] } = misbehaving(flood);
    const run = runAgent({ executable, args: [...args, written], prompt: "x" });
    let count = 0;
    for await (const item of run) {
      count += 1;
      if (item.type !== "init") continue;
      await until(() => readNumber(written) > 0);
      await delay(300);
      expect(readNumber(written)).toBeLessThan(10_000);
      // In the middle of the loop: nobody may wait for the other.
      await expect(run.result).resolves.toMatchObject({ status: "ok" });
    }
    expect(count).toBe(20_002);
  });

  function readNumber(path: string): number {
    try {
      return Number(readFileSync(path, "utf8"));
    } catch {
      return 0;
    }
  }
});
