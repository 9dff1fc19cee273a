import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { livingProcesses } from "../../src/tools/process-table.ts";
import { runCli, scriptFile, temporaryFolder, type CliRun } from "../support/cli.ts";
import {
  beginInBackground,
  newState,
  onlyId,
  storeSession,
  writerOf,
  type State,
} from "../support/sessions.ts";

const TOOLS = readFileSync("examples/streams/tools.jsonl", "utf8");
const SLEEP = {
  content: [
    { type: "text" as const, text: "I wait." },
    { type: "tool_use" as const, name: "Bash", input: { command: "sleep 600" } },
  ],
};
const ELSEWHERE = { host: "another", boot_id: "another", cwd: "/x", model: "m" };
const text = (run: CliRun) => run.stdout.toString("utf8");

async function listed(state: State, args: readonly string[] = []): Promise<Record<string, unknown>[]> {
  const run = await runCli(["sessions", "--json", ...args], { env: state.env });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  return text(run)
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function statusOf(state: State, id: string): Promise<Record<string, unknown>> {
  const found = (await listed(state)).find((one) => one["id"] === id);
  if (!found) throw new Error(`${id} is not listed`);
  return found;
}

/** Looks until the session is in a state. */
async function untilState(state: State, id: string, wanted: string): Promise<Record<string, unknown>> {
  for (;;) {
    const status = await statusOf(state, id);
    if (status["state"] === wanted) return status;
    await delay(50);
  }
}

const foreground = (state: State, answers: Parameters<typeof scriptFile>[0], more: string[] = []) =>
  runCli(["-p", "x", "--fake", scriptFile(answers), ...more], { env: state.env });

describe("sessions", () => {
  it("BG-12: lists each state, and whether it is terminal", async () => {
    const state = newState();
    await foreground(state, ["Fine."], ["--name", "good"]);
    await foreground(state, [{ fault: { code: "authentication" } }], ["--name", "bad"]);
    await foreground(
      state,
      [SLEEP, "x"],
      ["--name", "short", "--max-steps", "1", "--allowed-tools", "Bash", "--tool-timeout", "50ms"],
    );
    const busy = await beginInBackground(state, [SLEEP], ["--name", "busy"]);
    const idle = await beginInBackground(state, ["Yes?"], ["--name", "idle", "--keep-open"]);
    const killed = await beginInBackground(state, [SLEEP], ["--name", "killed"]);
    const stopped = await beginInBackground(state, [SLEEP], ["--name", "stopped"]);
    process.kill(writerOf(state, killed).pid, "SIGKILL");
    expect((await runCli(["stop", stopped], { env: state.env })).code).toBe(0);
    await untilState(state, busy, "running");
    await untilState(state, idle, "waiting");
    await untilState(state, killed, "crashed");
    const all = Object.fromEntries(
      (await listed(state)).map(({ name, state: word, terminal, exit_code }) => [
        name,
        [word, terminal, exit_code],
      ]),
    );
    expect(all).toEqual({
      good: ["done", true, 0],
      bad: ["failed", true, 1],
      short: ["limit", true, 3],
      busy: ["running", false, null],
      idle: ["waiting", false, null],
      killed: ["crashed", true, 5],
      stopped: ["cancelled", true, 143],
    });
    const names = async (...args: string[]) =>
      (await listed(state, args)).map(({ name }) => String(name)).toSorted();
    expect(await names("--state", "running,waiting")).toEqual(["busy", "idle"]);
    expect(await names("--state", "done", "--state", "crashed")).toEqual(["good", "killed"]);
  });

  it("says in every object the same fields, with what is known", async () => {
    const state = newState();
    const cwd = temporaryFolder();
    await runCli(["-p", "x", "--fake", scriptFile(["One.", "Two."]), "--name", "n"], { env: state.env, cwd });
    await runCli(["-c", "-p", "y", "--fake", scriptFile(["Three."])], { env: state.env, cwd });
    const id = onlyId(state);
    const [only] = await listed(state);
    expect(only).toEqual({
      id,
      name: "n",
      state: "done",
      terminal: true,
      exit_code: 0,
      text: "Three.",
      text_truncated: false,
      error: null,
      model: "fake",
      cwd,
      created: state.lines(id)[0]?.ts,
      updated: expect.stringMatching(/^\d{4}-.*Z$/),
      turns: 2,
      steps: 2,
      usage: expect.objectContaining({ output_tokens: expect.any(Number) }),
      pid: null,
      host: hostname(),
      log: state.log(id),
      damage: null,
    });
    const broken = storeSession(state, undefined);
    expect(Object.keys(await statusOf(state, broken))).toEqual(Object.keys(only ?? {}));
  });

  it("of a run under way says what the model wrote, its steps and its process", async () => {
    const state = newState();
    const id = await beginInBackground(state, [SLEEP]);
    await untilState(state, id, "running");
    let status = await statusOf(state, id);
    while (status["text"] === null) status = await statusOf(state, id);
    expect(status).toMatchObject({
      text: "I wait.",
      turns: 1,
      steps: 1,
      pid: writerOf(state, id).pid,
      error: null,
    });
    expect(status["usage"]).toMatchObject({ output_tokens: expect.any(Number) });
  });

  it("BG-16: lists, and stops, a run with an event of 5 MB", async () => {
    const state = newState();
    await foreground(state, ["x".repeat(5_000_000)], ["--coalesce-ms", "60000"]);
    const [only] = await listed(state);
    expect(only).toMatchObject({ state: "done", text: "x".repeat(10_000), text_truncated: true, steps: 1 });
    const table = await runCli(["sessions"], { env: { ...state.env, COLUMNS: "100" } });
    expect(
      Math.max(
        ...text(table)
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(100);
    const big = { content: [{ type: "text" as const, text: "y".repeat(5_000_000) }, ...SLEEP.content] };
    const id = await beginInBackground(state, [big], ["--no-deltas"]);
    await untilState(state, id, "running");
    expect(await runCli(["stop", id], { env: state.env })).toMatchObject({ code: 0, stderr: "" });
  });

  it("lists damaged sessions as such, and the others too", async () => {
    const state = newState();
    const damaged = {
      [storeSession(state, undefined)]: "it has no log",
      [storeSession(state, "")]: "its log is empty",
      [storeSession(state, "hello\n")]: "its first line is no init",
      [storeSession(state, TOOLS.slice(TOOLS.indexOf("\n") + 1))]: "its first line is no init",
      [storeSession(state, `${TOOLS}garbage\n`)]: "its last line is no event",
      [storeSession(state, Buffer.alloc(100_000))]: "its first line is no init",
    };
    const asFolder = storeSession(state, undefined);
    mkdirSync(state.log(asFolder));
    damaged[asFolder] = "its log cannot be read (EISDIR)";
    const asFile = onlyFile(state);
    damaged[asFile] = "its log cannot be read (ENOTDIR)";
    const unreadable = storeSession(state, TOOLS);
    chmodSync(state.log(unreadable), 0);
    if (process.getuid?.() !== 0) damaged[unreadable] = "its log cannot be read (EACCES)";
    const good = storeSession(state, TOOLS, {
      meta: { writer: { pid: -1, start_time: "x" }, host: 7, name: "" },
    });
    const all = await listed(state);
    expect(all.map(({ id }) => id)).toContain(good);
    const found = all.filter(({ damage }) => damage !== null).map(({ id, damage }) => [id, damage]);
    expect(Object.fromEntries(found)).toEqual(damaged);
    expect(text(await runCli(["sessions"], { env: state.env })).match(/damaged: /g)).toHaveLength(
      found.length,
    );
    const removal = await runCli(["rm", ...Object.keys(damaged)], { env: state.env });
    expect(removal).toMatchObject({ code: 0, stderr: "" });
    expect(state.ids().toSorted()).toEqual([good, ...(unreadable in damaged ? [] : [unreadable])].toSorted());
  });

  /** A file where a session's folder would be. */
  function onlyFile(state: State): string {
    const id = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97";
    writeFileSync(state.folder(id), "");
    return id;
  }

  it("is a table for a person: newest first, the latest text on one line, nothing that a terminal obeys", async () => {
    const state = newState();
    const home = temporaryFolder();
    const meta = { ...ELSEWHERE, cwd: join(home, "proj"), model: "claude-opus-5-5", name: "evil\u001b[2J" };
    const old = storeSession(state, TOOLS, { meta, ageMs: 3 * 24 * 3_600_000 });
    const recent = storeSession(state, TOOLS, { meta: { ...meta, name: "b" }, ageMs: 5 * 60_000 });
    const run = await runCli(["sessions"], { env: { ...state.env, HOME: home, COLUMNS: "120" } });
    const [header, first, second, ...rest] = text(run).split("\n");
    expect(header).toMatch(/^ID +NAME +STATE +AGE +MODEL +FOLDER +STEPS +TOKENS +TEXT$/);
    expect(first).toMatch(
      new RegExp(`^${recent.slice(-8)} +b +done +5m +claude-opus-5-5 +~/proj +\\d+ +\\S+ +\\S`),
    );
    expect(second).toMatch(new RegExp(`^${old.slice(-8)} +evil␛\\[2J +done +3d `));
    expect(rest).toEqual([""]);
    const narrow = text(await runCli(["sessions"], { env: { ...state.env, COLUMNS: "60" } }));
    expect(Math.max(...narrow.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it("lists hundreds", async () => {
    const state = newState();
    for (let count = 0; count < 400; count += 1)
      storeSession(state, TOOLS.slice(0, count % 2 ? undefined : -2));
    const all = await listed(state);
    expect(all).toHaveLength(400);
    expect(all.filter(({ state: word }) => word === "done")).toHaveLength(200);
  });

  it("is nothing where nothing is kept", async () => {
    const run = await runCli(["sessions"], { env: { LINEFEED_STATE_DIR: temporaryFolder() } });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(text(run)).toBe("no sessions\n");
    expect(await listed(newState())).toEqual([]);
  });

  it("refuses words and states that mean nothing", async () => {
    for (const args of [["foo"], ["--state", "busy"], ["--limit", "0"]]) {
      expect((await runCli(["sessions", ...args])).code).toBe(2);
    }
  });
});

describe("rm", () => {
  const rm = (state: State, ...args: string[]) => runCli(["rm", ...args], { env: state.env });

  it("removes what has ended, refuses what runs, and says which", async () => {
    const state = newState();
    const ended = storeSession(state, TOOLS, { meta: { name: "old" } });
    const live = await beginInBackground(state, [SLEEP]);
    const run = await rm(state, live, ended, ended.slice(0, 8));
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      new RegExp(`^linefeed: session ${live} is running; .*linefeed stop ${live} \\[invalid_request\\]\n$`),
    );
    expect(text(run)).toBe(`removed ${ended} (old)\n`);
    expect(state.ids()).toEqual([live]);
    const again = await rm(state, live, "--json");
    expect(JSON.parse(text(again))).toMatchObject({
      id: live,
      removed: false,
      error: { code: "invalid_request" },
    });
    expect(state.lines(live).length).toBeGreaterThan(1);
  });

  it("BG-06: a wrong word removes nothing", async () => {
    const state = newState();
    const kept = storeSession(state, TOOLS);
    const outside = join(state.sessions, "..", "..", "keep");
    mkdirSync(outside);
    const words = [
      "nope",
      "",
      " ",
      "..",
      "../../keep",
      outside,
      "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97",
      `${kept}/`,
    ];
    for (const word of words) {
      const run = await rm(state, kept, word);
      expect(run, word).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^linefeed: .*\[usage\]\n$/) as string,
      });
    }
    for (const args of [[], [kept, "--older-than", "1d"], ["--older-than", "30"], ["--older-than", "x"]])
      expect((await rm(state, ...args)).code).toBe(2);
    expect(existsSync(outside)).toBe(true);
    expect(state.ids()).toEqual([kept]);
  });

  it("--older-than takes what has ended, by its last line", async () => {
    const state = newState();
    const day = 24 * 3_600_000;
    const old = storeSession(state, TOOLS, { ageMs: 31 * day });
    const recent = storeSession(state, TOOLS, { ageMs: 29 * day });
    storeSession(state, TOOLS.slice(0, 500), { ageMs: 99 * day, meta: ELSEWHERE });
    const run = await rm(state, "--older-than", "30d");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(text(run)).toBe(`removed ${old}\n`);
    expect(text(await rm(state, "--older-than", "4w", "--json"))).toContain(`{"id":"${recent}"`);
    expect(state.ids()).toHaveLength(1);
  });

  it("removes links and not what they lead to", async () => {
    const state = newState();
    const target = temporaryFolder();
    writeFileSync(join(target, "events.jsonl"), TOOLS);
    const linked = storeSession(state, TOOLS);
    symlinkSync(target, join(state.folder(linked), "output"));
    const link = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97";
    symlinkSync(target, state.folder(link));
    const nowhere = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e98";
    symlinkSync("/nowhere", state.folder(nowhere));
    expect(await rm(state, linked, link, nowhere)).toMatchObject({ code: 0, stderr: "" });
    expect(state.ids()).toEqual([]);
    expect(readFileSync(join(target, "events.jsonl"), "utf8")).toBe(TOOLS);
  });

  it("clears away what a removal that was killed has left", async () => {
    const state = newState();
    const id = storeSession(state, TOOLS);
    mkdirSync(join(state.sessions, `.removed-${id}-1`));
    expect(await listed(state)).toHaveLength(1);
    expect((await rm(state, id)).code).toBe(0);
    expect(state.ids()).toEqual([]);
  });
});

describe("stop", () => {
  const stop = (state: State, ...args: string[]) => runCli(["stop", ...args], { env: state.env });
  const SPAWNER = {
    content: [
      {
        type: "tool_use" as const,
        name: "Bash",
        input: { command: "setsid sleep 601 & echo $! >pid; sleep 600" },
      },
    ],
  };
  const isRunning = (pid: number) => livingProcesses().some((entry) => entry.pid === pid);

  it("ends a run in order, and says how; once more is no error", async () => {
    const state = newState();
    const id = await beginInBackground(state, [SLEEP], ["--name", "it"]);
    const run = await stop(state, "it");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(text(run)).toBe(`${id} (it) stopped: cancelled, exit code 143\n`);
    expect(state.lines(id).at(-1)).toMatchObject({ type: "result", status: "cancelled", synthetic: false });
    const again = await stop(state, id, "--json");
    expect(again.code).toBe(0);
    expect(JSON.parse(text(again))).toEqual({
      id,
      name: "it",
      how: "had_ended",
      state: "cancelled",
      terminal: true,
      exit_code: 143,
    });
  });

  it("ends one that waits for a prompt", async () => {
    const state = newState();
    const id = await beginInBackground(state, ["Yes?"], ["--keep-open"]);
    await untilState(state, id, "waiting");
    expect((await stop(state, id)).code).toBe(0);
    expect(state.lines(id).at(-1)?.type).toBe("result");
  });

  it("kills by force what does not answer, and what its calls have left", async () => {
    const state = newState();
    const cwd = temporaryFolder();
    const id = await beginInBackground(state, [SPAWNER], ["-C", cwd]);
    while (!existsSync(join(cwd, "pid")) || readFileSync(join(cwd, "pid"), "utf8") === "") await delay(20);
    const child = Number(readFileSync(join(cwd, "pid"), "utf8"));
    const { pid } = writerOf(state, id);
    process.kill(pid, "SIGSTOP");
    const late = await stop(state, id, "--timeout", "300ms");
    expect(late).toMatchObject({ code: 75, stderr: expect.stringContaining("--force") as string });
    process.kill(pid, 0);
    const run = await stop(state, id, "--timeout", "300ms", "--force");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(text(run)).toBe(`${id} killed: crashed, exit code 5\n`);
    if (process.platform === "linux") expect([pid, child].filter(isRunning)).toEqual([]);
  });

  it("kills no process but the writer", async () => {
    const state = newState();
    const id = await beginInBackground(state, [SLEEP]);
    const { pid } = writerOf(state, id);
    process.kill(pid, "SIGSTOP");
    // As if the number had gone to another process since.
    const path = join(state.folder(id), "meta.json");
    const meta = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...meta, writer: { pid: process.pid, start_time: 1 } }));
    const run = await stop(state, id, "--force", "--timeout", "100ms");
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("not known") as string });
    expect(await statusOf(state, id)).toMatchObject({ state: "running", pid: null });
    process.kill(pid, "SIGKILL");
  });

  it("BG-06: says at once that there is no such session", async () => {
    const state = newState();
    storeSession(state, TOOLS);
    for (const args of [
      ["nope"],
      [""],
      ["../../x"],
      [],
      ["019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97"],
      ["a", "b"],
    ])
      expect(await stop(state, ...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("[usage]") as string,
      });
  });
});
