import { spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "../../src/run/session.ts";
import { answer } from "../../src/testing/index.ts";
import { CLI, cleanEnv, ofType, resultOf, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { provider, providerEnv } from "../support/provider.ts";
import { bash, faultsOf, hello, newState, onlyId, type State } from "../support/sessions.ts";

interface Sent {
  messages: { role: string; content: { type: string; id?: string; tool_use_id?: string; text?: string }[] }[];
}

/** What a request says, in order. */
function textsOf(body: unknown): (string | undefined)[] {
  return (body as Sent).messages.flatMap(({ content }) => content.map(({ text }) => text));
}

/** Every call has its result in the next message, and every result its call before it: else the provider refuses. */
function unpaired({ messages }: Sent): string[] {
  return messages.flatMap((message, index) => {
    const ids = (at: number, key: "id" | "tool_use_id") =>
      (messages[at]?.content ?? []).flatMap((block) => block[key] ?? []);
    const calls = message.role === "assistant" ? ids(index, "id") : [];
    const results = ids(index, "tool_use_id");
    const open = calls.filter((id) => !ids(index + 1, "tool_use_id").includes(id));
    const stray = results.filter((id) => !ids(index - 1, "id").includes(id));
    return [...open, ...stray];
  });
}

/** A run that is killed once its stdout has this in it. */
async function killedRun(state: State, args: readonly string[], when: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI, "--json", ...args], {
    env: cleanEnv({ ...state.env, ...env }),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let seen = "";
  child.stdout.on("data", (chunk: Buffer) => {
    seen += chunk.toString();
    if (seen.includes(when)) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("close", resolve));
  return seen;
}

/** Opens a session as a run would that carries it on. */
async function openIn(state: State, id: string) {
  const request = { kind: "resume", which: { reference: id }, name: undefined, force: false } as const;
  const { session, notices } = await openSession(request, {
    place: { stateFolder: join(state.sessions, ".."), store: undefined },
    asked: { provider: "fake", model: "fake" },
    date: () => new Date(),
    signal: new AbortController().signal,
  });
  session.log?.close();
  return { nextSeq: session.nextSeq, notices };
}

describe("a session that is carried on", () => {
  it("EO-01, EO-03, EO-05: one id everywhere, every number once, what was said is known", async () => {
    const state = newState();
    const server = await provider(
      answer().text("one").done(),
      answer().text("two").done(),
      answer().text("three").done(),
    );
    const id = "0000abcd-0000-4000-8000-00000000CAFE";
    const env = providerEnv(server);
    await state.run(["-p", "first", "--session-id", id], { env });
    await state.run(["-p", "second", "--resume", id.toLowerCase()], { env });
    const third = await state.run(["-p", "third", "--resume", id], { env });
    expect(lint(third.stdout)).toEqual([]);
    expect(third.events[0]).toMatchObject({ type: "init", resumed: true, session_id: id.toLowerCase() });
    expect(ofType(third.events, "turn_start")).toMatchObject([{ turn: 3 }]);
    expect(ofType(third.events, "step_start")).toMatchObject([{ step: 3 }]);
    const lines = state.lines(onlyId(state));
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(new Set(lines.map(({ session_id }) => session_id))).toEqual(new Set([id.toLowerCase()]));
    expect(faultsOf(state.log(onlyId(state)))).toEqual([]);
    expect(textsOf(server.requests[2]?.body)).toEqual(["first", "one", "second", "two", "third"]);
  });

  it("a chosen id that is taken is refused, and nothing is asked", async () => {
    const state = newState();
    const args = ["-p", "x", "--session-id", "0000abcd-0000-4000-8000-000000000001", "--fake", hello()];
    await state.run(args);
    const again = await state.run(args);
    expect(resultOf(again)).toMatchObject({ exit_code: 2, error: { code: "usage" } });
    expect(resultOf(again).error?.message).toContain("--resume 0000abcd-0000-4000-8000-000000000001");
  });

  it("SG-07: that a signal ended holds what stdout had, and goes on", async () => {
    const state = newState();
    const script = scriptFile({ delay_ms: 5, answers: ["word ".repeat(1000)] });
    const run = await state.run(["-p", "x", "--fake", script], {
      during: (child) => child.stdout?.once("data", () => setTimeout(() => child.kill("SIGTERM"), 100)),
    });
    expect(run.signal).toBe("SIGTERM");
    expect(readFileSync(state.log(onlyId(state))).equals(run.stdout)).toBe(true);
    const again = await state.run(["-p", "y", "-r", String(run.events[0]?.session_id), "--fake", hello()]);
    expect(resultOf(again).text).toBe("Hello.");
    expect(faultsOf(state.log(onlyId(state)))).toEqual([]);
  });

  it("another model gets no thinking that was signed by the first", async () => {
    const state = newState();
    const thought = answer().thinking("Hm.", "c2lnbmVk").text("one").done();
    const server = await provider(thought, answer().text("two").done(), answer().text("three").done());
    const env = providerEnv(server);
    await state.run(["-p", "first", "--model", "a"], { env });
    await state.run(["-c", "-p", "second", "--model", "a"], { env });
    await state.run(["-c", "-p", "third", "--model", "b"], { env });
    const types = server.requests.map(({ body }) =>
      (body as Sent).messages.flatMap(({ content }) => content.map(({ type }) => type)),
    );
    expect(types[1]).toContain("thinking");
    expect(types[2]).not.toContain("thinking");
  });

  it("EO-06: each message names the model that made it", async () => {
    const state = newState();
    await state.run(["-p", "x", "--model", "a", "--fake", hello()]);
    await state.run(["-c", "-p", "x", "--model", "b", "--fake", hello()]);
    expect(ofType(state.lines(onlyId(state)), "message").map(({ model }) => model)).toEqual(["a", "b"]);
  });
});

describe("which session is meant", () => {
  const first = "0000aaaa-0000-4000-8000-00000000beef";
  const second = "0000bbbb-0000-4000-8000-00000000feed";

  async function two(): Promise<{ state: State; here: string; there: string }> {
    const state = newState();
    const [here, there] = [temporaryFolder(), temporaryFolder()];
    const script = hello();
    await state.run(["-p", "x", "--session-id", first, "--name", "deploy", "--fake", script], { cwd: here });
    await state.run(["-p", "x", "--session-id", second, "--fake", script], { cwd: there });
    return { state, here, there };
  }

  it("by id, beginning, end, name, or the latest of the folder", async () => {
    const { state, here } = await two();
    const script = hello();
    const idOf = async (...args: string[]) =>
      (await state.run([...args, "-p", "x", "--fake", script], { cwd: here })).events[0]?.session_id;
    expect(await idOf("--resume", second)).toBe(second);
    expect(await idOf("--resume", "0000bbbb")).toBe(second);
    expect(await idOf("--resume=FEED")).toBe(second);
    expect(await idOf("--resume", "deploy")).toBe(first);
    expect(await idOf("--resume", "beef", "--name", "other")).toBe(first);
    expect(await idOf("--resume", "other")).toBe(first);
    expect(await idOf("-c")).toBe(first);
    expect(await idOf("-r")).toBe(first);
  });

  it.each([
    ["an end that several have", ["-r", "0000"], /may be 0000(a|b)/],
    ["a piece that is too short", ["-r", "fee"], /no session "fee"; give its id, 4 or more/],
    ["a prompt in its place", ["-r", "fix the tests"], /-c -p/],
    ["a path", ["-r", "../sessions"], /no session/],
    [
      "an id that is not there",
      ["-r", "0000cccc-0000-4000-8000-000000000000"],
      /there is no session 0000cccc/,
    ],
    ["no session of the folder", ["-c", "--cwd", "/"], /no session has worked in \//],
    ["an old one with a new id", ["-c", "--session-id", second], /--fork-session/],
    ["an old one that is not kept", ["-c", "--no-session-persistence"], /--fork-session/],
    ["a fork of nothing", ["--fork-session"], /needs --resume/],
    ["both ways to say it", ["-c", "-r", "deploy"], /exclude each other/],
    ["no UUID", ["--session-id", "../../x"], /Write a UUID/],
    ["a name of two lines", ["--name", "a\nb"], /control characters/],
    ["a session of deterministic runs", ["--deterministic", "-c"], /keeps no session/],
  ])("%s is refused", async (_, args, message) => {
    const { state } = await two();
    const run = await state.run([...args, "-p", "x", "--fake", hello()]);
    expect(resultOf(run)).toMatchObject({ exit_code: 2, error: { code: "usage" } });
    expect(resultOf(run).error?.message).toMatch(message);
    expect(state.ids().length).toBe(2);
  });

  it("one of another machine is left alone without --force", async () => {
    const { state } = await two();
    const meta = join(state.folder(first), "meta.json");
    const known = JSON.parse(readFileSync(meta, "utf8")) as Record<string, unknown>;
    const before = readFileSync(state.log(first));
    writeFileSync(meta, JSON.stringify({ ...known, host: "elsewhere", boot_id: "another" }));
    appendFileSync(state.log(first), '{"type":"torn');
    const args = ["-r", first, "-p", "x", "--fake", hello()];
    const refused = await state.run(args);
    expect(resultOf(refused).error).toMatchObject({
      code: "usage",
      message: expect.stringContaining("elsewhere"),
    });
    expect(readFileSync(state.log(first)).length).toBe(before.length + 13);
    expect(resultOf(await state.run([...args, "--fork-session"])).exit_code).toBe(0);
    expect(resultOf(await state.run([...args, "--force"])).exit_code).toBe(0);
    // Now it is ours.
    expect(resultOf(await state.run(args)).exit_code).toBe(0);
  });

  it("one without its meta file is found all the same", async () => {
    const { state, here } = await two();
    rmSync(join(state.folder(first), "meta.json"));
    writeFileSync(join(state.folder(second), "meta.json"), "{");
    const run = await state.run(["-c", "-p", "x", "--fake", hello()], { cwd: here });
    expect(run.events[0]?.session_id).toBe(first);
  });
});

describe("a fork", () => {
  it("goes on with the conversation in a log of its own, and outlives the session that it comes from", async () => {
    const state = newState();
    const server = await provider(
      ...["one", "two", "three", "four"].map((text) => answer().text(text).done()),
    );
    const env = providerEnv(server);
    await state.run(["-p", "first"], { env });
    const parent = onlyId(state);
    const before = readFileSync(state.log(parent));
    const fork = await state.run(["-c", "--fork-session", "-p", "second"], { env });
    const id = String(fork.events[0]?.session_id);
    expect(id).not.toBe(parent);
    const seq = before.toString().split("\n").length - 1;
    expect(fork.events[0]).toMatchObject({
      seq: 1,
      resumed: false,
      forked_from: { session_id: parent, seq },
    });
    expect(readFileSync(state.log(parent)).equals(before)).toBe(true);
    expect(readFileSync(state.log(id)).equals(fork.stdout)).toBe(true);
    // What the other session goes on with is not the fork's.
    await state.run(["-r", parent, "-p", "elsewhere"], { env });
    rmSync(state.folder(parent), { recursive: true });
    // And a fork of the fork has all of it, too.
    await state.run(["-r", id, "--fork-session", "-p", "third"], { env });
    rmSync(state.folder(id), { recursive: true });
    const last = await state.run(["-r", onlyId(state), "-p", "fourth"], { env });
    expect(last.events[0]).toMatchObject({ resumed: true });
    expect(ofType(last.events, "turn_start")).toMatchObject([{ turn: 2 }]);
    expect(textsOf(server.requests.at(-1)?.body)).toEqual([
      "first",
      "one",
      "second",
      "two",
      "third",
      "four",
      "fourth",
    ]);
    expect(faultsOf(state.log(onlyId(state)))).toEqual([]);
  });

  it("may have a chosen id, and need not be kept", async () => {
    const state = newState();
    await state.run(["-p", "x", "--fake", hello()]);
    const id = "0000abcd-0000-4000-8000-000000000001";
    await state.run(["-c", "--fork-session", "--no-session-persistence", "-p", "x", "--fake", hello()]);
    expect(state.ids().length).toBe(1);
    await state.run(["-c", "--fork-session", "--session-id", id, "-p", "x", "--fake", hello()]);
    expect(state.ids()).toContain(id);
  });
});

describe("a session whose writer died", () => {
  it("LG-07: in a call: the call is closed, the provider takes the next request", async () => {
    const state = newState();
    const calls = answer()
      .toolUse("Bash", { command: "echo up; sleep 60" })
      .toolUse("Bash", { command: "true" });
    const server = await provider(calls.done(), answer().text("fine").done());
    const env = providerEnv(server);
    const seen = await killedRun(state, ["-p", "x", "--allowed-tools", "Bash"], '"text":"up', env);
    const again = await state.run(["-c", "-p", "y"], { env });
    expect(resultOf(again)).toMatchObject({ status: "ok", text: "fine" });
    expect(unpaired(server.requests[1]?.body as Sent)).toEqual([]);
    const log = readFileSync(state.log(onlyId(state))).toString();
    expect(log.startsWith(seen)).toBe(true);
    expect(faultsOf(state.log(onlyId(state)))).toEqual([]);
    const lines = state.lines(onlyId(state));
    expect(ofType(lines, "tool_end").map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect(ofType(lines, "result")[0]).toMatchObject({
      status: "error",
      exit_code: 5,
      error: { code: "lost_worker" },
      synthetic: true,
      steps: 1,
    });
    expect(again.events[0]?.seq).toBe(lines.findIndex(({ type }) => type === "result") + 2);
  });

  it("LG-06: a bad line in the middle is named and left out; what it was needed for is made up", async () => {
    for (const bad of ["tool_end", "message", "turn_start"]) {
      const state = newState();
      await state.run([
        "-p",
        "x",
        "--allowed-tools",
        "Bash",
        "--fake",
        scriptFile([bash("echo hi"), "done"]),
      ]);
      const id = onlyId(state);
      const lines = readFileSync(state.log(id)).toString().trimEnd().split("\n");
      const number = lines.findIndex((line) => line.startsWith(`{"type":"${bad}"`)) + 1;
      lines[number - 1] = `${lines[number - 1]?.slice(0, 60)}\u0000\u0000`;
      writeFileSync(state.log(id), `${lines.join("\n")}\n`);
      const server = await provider(answer().text("fine").done());
      const run = await state.run(["-r", id, "-p", "y"], { env: providerEnv(server) });
      expect(resultOf(run)).toMatchObject({ status: "ok" });
      const [notice, ...more] = ofType(run.events, "notice");
      expect(more).toEqual([]);
      expect(notice).toMatchObject({
        code: "bad_line_skipped",
        message: expect.stringContaining(`line ${number} (`),
      });
      expect(unpaired(server.requests[0]?.body as Sent)).toEqual([]);
    }
  });

  it("LG-02: its last record cut at every byte: all that is whole is kept, what is dropped is said", async () => {
    const state = newState();
    await state.run(["-p", "Ä 漢字 🫖", "--fake", hello(), "--no-deltas"]);
    const id = onlyId(state);
    const whole = readFileSync(state.log(id));
    const begin = whole.lastIndexOf("\n", whole.length - 2) + 1;
    const folder = state.folder(id);
    for (let length = begin; length <= whole.length; length += 1) {
      const other = newState();
      mkdirSync(other.sessions, { recursive: true });
      cpSync(folder, other.folder(id), { recursive: true });
      truncateSync(other.log(id), length);
      const { notices, nextSeq } = await openIn(other, id);
      const lines = other.lines(id);
      // The checks take their time, and what is dropped is the same all through the line.
      if (length % 16 === 0 || length - begin < 3 || whole.length - length < 3)
        expect(faultsOf(other.log(id))).toEqual([]);
      expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
      expect(nextSeq).toBe(lines.length + 1);
      const torn = length > begin && length < whole.length - 1;
      expect(notices.map(({ code }) => code)).toEqual(torn ? ["torn_line_dropped"] : []);
    }
  });

  it("LG-02: killed at a hundred moments, it is whole again every time", async () => {
    const state = newState();
    const all = await state.run([
      "-p",
      "x",
      "--coalesce-ms",
      "0",
      "--allowed-tools",
      "Bash",
      "--fake",
      scriptFile([bash("echo one; echo two >&2"), bash("false"), "Done with it, all of it."]),
    ]);
    const id = String(all.events[0]?.session_id);
    for (let round = 0; round < 100; round += 1) {
      const other = newState();
      mkdirSync(other.sessions, { recursive: true });
      cpSync(state.folder(id), other.folder(id), { recursive: true });
      truncateSync(other.log(id), Math.floor((round / 100) * all.stdout.length));
      await openIn(other, id);
      const log = readFileSync(other.log(id));
      expect(log.length === 0 ? [] : faultsOf(log)).toEqual([]);
    }
  });
});

describe("LG-05: a long log", () => {
  /** The real thing is 600 MB and takes half a minute. */
  const MEGABYTES = Number(process.env["LONG_LOG_MB"] ?? 100);

  it("is resumed in bounded memory", async () => {
    const state = newState();
    const id = "0000abcd-0000-4000-8000-000000000001";
    await state.run(["-p", "x", "--session-id", id, "--fake", hello()]);
    const [init] = state.lines(id);
    const head = { ts: init?.ts, session_id: id };
    const runLines: string[] = [];
    let seq = state.lines(id).length;
    const add = (type: string, fields: object) =>
      runLines.push(JSON.stringify({ type, seq: ++seq, ...head, ...fields }));
    add("init", { ...init, type: "init", seq });
    add("turn_start", { turn: 2, prompt: "long" });
    add("step_start", { turn: 2, step: 2, attempt: 1, model: "fake" });
    appendFileSync(state.log(id), `${runLines.join("\n")}\n`);
    const text = "x".repeat(2000);
    for (let megabyte = 0; megabyte < MEGABYTES; megabyte += 1) {
      const deltas = Array.from({ length: 480 }, () =>
        JSON.stringify({ type: "text_delta", seq: ++seq, ...head, step: 2, block: 0, text }),
      );
      appendFileSync(state.log(id), `${deltas.join("\n")}\n`);
    }
    const usage = join(temporaryFolder(), "peak");
    const hook = `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(usage)}, String(process.resourceUsage().maxRSS)))`;
    const hookFile = join(temporaryFolder(), "hook.cjs");
    writeFileSync(hookFile, hook);
    const run = await state.run(["-r", id, "-p", "y", "--fake", hello()], {
      env: { NODE_OPTIONS: `--require ${hookFile}` },
    });
    expect(run.events[0]).toMatchObject({ type: "init", seq: seq + 4 });
    expect(resultOf(run).text).toBe("Hello.");
    expect(Number(readFileSync(usage, "utf8"))).toBeLessThan(200 * 1024);
  });
});
