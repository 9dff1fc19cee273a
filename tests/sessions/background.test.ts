import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CLI, cleanEnv, resultOf, runCli, runShell, scriptFile } from "../support/cli.ts";
import {
  beginInBackground,
  faultsOf,
  hasWriter,
  killWithTest,
  newState,
  writerOf,
  type State,
} from "../support/sessions.ts";

const SLEEP = {
  content: [
    { type: "text" as const, text: "I wait." },
    { type: "tool_use" as const, name: "Bash", input: { command: "sleep 600" } },
  ],
};
const text = (run: { stdout: Buffer }) => run.stdout.toString("utf8");
/** The worker of a session. */
const pidOf = (state: State, id: string): number => writerOf(state, id).pid;

async function untilEnded(state: State, id: string): Promise<void> {
  while (await hasWriter(state, id)) await delay(20);
}

const attach = (state: State, args: string[], during?: Parameters<typeof runCli>[1]) =>
  runCli(["attach", ...args], { ...during, env: state.env });

describe("--bg", () => {
  it("BG-17: prints an id at once; attach prints the very lines of the log and exits as the run did", async () => {
    const here = newState();
    const id = await beginInBackground(here, ["Hello."]);
    const run = await attach(here, [id]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout.equals(readFileSync(here.log(id)))).toBe(true);
    expect(faultsOf(here.log(id))).toEqual([]);
    expect(resultOf(run)).toMatchObject({ status: "ok", text: "Hello." });
  });

  it("prints the session line as its one answer under jsonl", async () => {
    const here = newState();
    const args = ["--bg", "-p", "go", "--json", "--name", "tidy", "--fake", scriptFile(["Hello."])];
    const run = await runCli(args, { env: here.env });
    expect(run.events).toMatchObject([{ type: "session", seq: 0, name: "tidy" }]);
    const [id = ""] = here.ids();
    expect(run.events[0]).toMatchObject({ session_id: id, log: here.log(id) });
    expect(text(await attach(here, ["tidy", "--output-format", "text"]))).toBe("Hello.\n");
  });

  it.each([
    ["a script that is not there", ["--fake", "missing.json"], /missing.json/],
    ["no key", [], /there is no key/],
    ["a session that is not kept", ["--no-session-persistence"], /kept/],
    ["a wrong flag", ["--max-steps", "many"], /--max-steps/],
  ])("fails in the foreground for %s", async (_name, more, message) => {
    const here = newState();
    const given = more.includes("--fake") || more.length === 0 ? [] : ["--fake", scriptFile(["Hello."])];
    const run = await runCli(["--bg", "-p", "go", ...given, ...more], { env: here.env });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(message);
    expect(text(run)).toBe("");
    expect(here.ids()).toEqual([]);
  });

  it("returns to a shell that waits for the end of its output, and holds nothing of it", async () => {
    const here = newState();
    const script = scriptFile([SLEEP]);
    const run = await runShell(
      `id=$($LINEFEED --bg -p go --allowed-tools Bash --fake ${script}) && echo "$id" | cat`,
      {
        env: here.env,
      },
    );
    const id = text(run).trim();
    killWithTest(here, id);
    expect(await hasWriter(here, id)).toBe(true);
    const pid = pidOf(here, id);
    const open = execFileSync("bash", ["-c", `ls -l /proc/${pid}/fd | awk '{print $NF}'`]).toString("utf8");
    // Node has pipes of its own for its event loop; of the caller's three there is none.
    expect(readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[5]).toBe(String(pid));
    expect(open).toContain("worker.log");
  });

  it("BG-10: lives on when its terminal hangs up, and when it is told so", async () => {
    const here = newState();
    const script = scriptFile([SLEEP]);
    const command = `${process.execPath} ${CLI} --bg -p go --allowed-tools Bash --fake ${script}`;
    const terminal = spawn("script", ["-qfec", command, "/dev/null"], {
      env: cleanEnv(here.env),
      stdio: "pipe",
    });
    await new Promise((done) => terminal.once("exit", done));
    const [id = ""] = here.ids();
    killWithTest(here, id);
    process.kill(pidOf(here, id), "SIGHUP");
    await delay(200);
    expect(await hasWriter(here, id)).toBe(true);
  });

  it("keeps keys out of the environment of the worker", async () => {
    const here = newState();
    const args = ["--bg", "-p", "go", "--base-url", "http://127.0.0.1:9", "--max-retries", "6"];
    const run = await runCli(args, { env: { ...here.env, ANTHROPIC_API_KEY: "sk-ant-secret-123" } });
    const id = text(run).trim();
    killWithTest(here, id);
    const pid = pidOf(here, id);
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("sk-ant-secret-123");
    expect(readFileSync(here.log(id), "utf8")).not.toContain("sk-ant-secret-123");
  });
});

describe("attach", () => {
  it("BG-03: ends with a synthetic result when the writer was killed, while attached and afterwards", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    const following = attach(here, [id], {
      during: (child) =>
        child.stdout?.once("data", () => {
          process.kill(pidOf(here, id), "SIGKILL");
        }),
    });
    for (const run of [await following, await attach(here, [id])]) {
      expect(run.code).toBe(5);
      expect(resultOf(run)).toMatchObject({
        seq: 0,
        synthetic: true,
        exit_code: 5,
        error: { code: "lost_worker" },
      });
      expect(faultsOf(run.stdout)).toEqual([]);
    }
    const resumed = await here.run(["--resume", id, "-p", "go on", "--fake", scriptFile(["Done."])]);
    expect(resumed.code).toBe(0);
    expect(faultsOf(here.log(id))).toEqual([]);
    expect((await attach(here, [id])).code).toBe(0);
  });

  it("BG-11: leaving it never stops the run", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const run = await attach(here, [id], {
        during: (child) => child.stdout?.once("data", () => child.kill(signal)),
      });
      expect(run.signal).toBe(signal);
    }
    expect(await hasWriter(here, id)).toBe(true);
  });

  it("BG-02, BG-08: replays a run that has ended, from the start, from a number, or the last lines", async () => {
    const here = newState();
    const id = await beginInBackground(here, ["Hello there, all of you."]);
    await untilEnded(here, id);
    const lines = readFileSync(here.log(id), "utf8").split("\n").slice(0, -1);
    const print = async (...args: string[]) =>
      text(await attach(here, [id, ...args]))
        .split("\n")
        .slice(0, -1);
    expect(await print()).toEqual(lines);
    expect(await print("--from", "4")).toEqual(lines.slice(3));
    expect(await print("--tail", "2")).toEqual(lines.slice(-2));
    expect(await print("--tail", "0")).toEqual([]);
    expect(await print("--from", "10000")).toEqual([]);
    for (let seq = 1; seq <= lines.length; seq += 1)
      expect(await print("--from", String(seq))).toEqual(lines.slice(seq - 1));
  });

  it("--no-follow prints what is there of a run that goes on", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    const run = await attach(here, [id, "--no-follow"]);
    expect(run.code).toBe(0);
    expect(run.events[0]?.type).toBe("init");
    expect(await hasWriter(here, id)).toBe(true);
  });

  it("BG-01, BG-14: loses and repeats nothing while the writer writes thousands of lines, slow and stopped readers too", async () => {
    const here = newState();
    const words = "word ".repeat(6000);
    const script = { chunk_characters: 5, delay_ms: 0, answers: [words, words] };
    const id = await beginInBackground(here, script, ["--coalesce-ms", "0"]);
    const readers = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        await delay(n * 15);
        return attach(here, [id], {
          during: (child) => {
            if (n % 5 !== 0) return;
            child.stdout?.once("data", () => {
              child.kill("SIGSTOP");
              setTimeout(() => child.kill("SIGCONT"), 700);
            });
          },
        });
      }),
    );
    const log = readFileSync(here.log(id));
    expect(readers.map(({ code, stdout }) => [code, stdout.equals(log)])).toEqual(
      readers.map(() => [0, true]),
    );
  });

  it.each(["EMFILE", "ENOSPC"])("BG-01: loses nothing where files cannot be watched (%s)", async (code) => {
    const here = newState();
    const script = { chunk_characters: 5, delay_ms: 1, answers: ["word ".repeat(600)] };
    const id = await beginInBackground(here, script, ["--coalesce-ms", "0"]);
    // As the system says it when its inotify instances, or watches, are used up.
    const preload = `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
      fs.watch = () => { process.stderr.write("no watch"); throw Object.assign(new Error(), { code: "${code}" }); };
      syncBuiltinESMExports();`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };
    const run = await runCli(["attach", id], { env: { ...here.env, ...env } });
    expect(run).toMatchObject({ code: 0, stderr: "no watch" });
    expect(run.stdout.equals(readFileSync(here.log(id)))).toBe(true);
  });

  it.each([
    ["removed", (path: string) => rmSync(path), /removed/],
    ["cut", (path: string) => truncateSync(path, 10), /shorter/],
    [
      "replaced",
      (path: string) => {
        renameSync(path, `${path}.1`);
        writeFileSync(path, "");
      },
      /replaced/,
    ],
  ])("BG-04: says so when the log is %s under it", async (_name, harm, message) => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    const pid = pidOf(here, id);
    const run = await attach(here, [id], {
      during: (child) => child.stdout?.once("data", () => harm(here.log(id))),
    });
    process.kill(pid, "SIGKILL");
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(message);
  });

  it.each([["nope"], [""], ["../../x"], ["00000000-0000-7000-8000-000000000000"]])(
    "BG-06: an id that does not exist is an error at once: %j",
    async (id) => {
      const run = await attach(newState(), [id]);
      expect(run.code).toBe(2);
      expect(run.stderr).toMatch(/^linefeed: .*\[usage\]\n$/);
    },
  );
});

describe("send", () => {
  it("queues prompts in a session that waits, and carries on one that has ended", async () => {
    const here = newState();
    const id = await beginInBackground(here, ["One.", "Two.", "Three."], ["--keep-open"]);
    const send = (...args: string[]) => runCli(["send", id, ...args], { env: here.env });
    for (const prompt of ["second", "third"])
      expect(await send(prompt)).toMatchObject({ code: 0, stderr: "" });
    while (!readFileSync(here.log(id), "utf8").includes('"turn":3,"status":"ok"')) await delay(20);
    expect(await send("more", "--max-steps", "3")).toMatchObject({ code: 2 });
    process.kill(pidOf(here, id), "SIGTERM");
    await untilEnded(here, id);
    expect((await attach(here, [id])).code).toBe(143);
    expect(await send("again", "--fake", scriptFile(["Four."]))).toMatchObject({ code: 0, stderr: "" });
    const all = await attach(here, [id, "--output-format", "text"]);
    expect(text(all)).toBe("One.\nTwo.\nThree.\nFour.\n");
    expect(faultsOf(here.log(id))).toEqual([]);
  });

  it("--interrupt ends the turn and not the run", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP, "Instead."]);
    while (!readFileSync(here.log(id), "utf8").includes("tool_start")) await delay(20);
    const sent = await runCli(["send", id, "--interrupt", "stop that"], { env: here.env });
    expect(sent).toMatchObject({ code: 0, stderr: "" });
    const run = await attach(here, [id]);
    expect(resultOf(run)).toMatchObject({ turns: 2, text: "Instead." });
    expect(faultsOf(run.stdout)).toEqual([]);
    expect(here.lines(id).filter(({ type }) => type === "turn_end")).toMatchObject([
      { status: "cancelled" },
      { status: "ok" },
    ]);
  });

  it("fails where the worker is stopped, and may be tried again", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    process.kill(pidOf(here, id), "SIGSTOP");
    for (const command of [
      ["send", id, "more"],
      ["stop", id],
    ])
      expect(await runCli([...command, "--timeout", "200ms"], { env: here.env })).toMatchObject({
        code: 75,
        stderr: expect.stringMatching(/\[idle_timeout\]\n$/) as string,
      });
  });

  it("is refused by a blank prompt, and one that is several words", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    for (const words of [[id], [id, " "], [id, "two", "words"]])
      expect(await runCli(["send", ...words], { env: here.env })).toMatchObject({ code: 2 });
  });
});

describe("a running session", () => {
  it("lends its name to no other, new, forked or carried on, until it has ended", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP], ["--name", "deploy"]);
    const run = (...more: string[]) =>
      here.run(["--name", "deploy", "-p", "x", "--fake", scriptFile(["x"]), ...more]);
    const other = await here.run(["-p", "x", "--fake", scriptFile(["x"])]);
    const otherId = String(other.events[0]?.session_id);
    for (const more of [[], ["--bg"], ["-r", otherId], ["-r", otherId, "--fork-session"]]) {
      const refused = await run(...more);
      expect(refused.code, more.join(" ")).toBe(2);
      expect(refused.stderr).toMatch(new RegExp(`session ${id} is running .*linefeed attach ${id}`));
    }
    expect(here.ids().toSorted()).toEqual([id, otherId].toSorted());
    expect((await run("--no-session-persistence")).code).toBe(0);
    process.kill(pidOf(here, id), "SIGTERM");
    await untilEnded(here, id);
    expect((await run()).code).toBe(0);
  });

  it("LG-03: is refused to every other writer, in words that help", async () => {
    const here = newState();
    const id = await beginInBackground(here, [SLEEP]);
    for (const more of [[], ["--bg"]]) {
      const run = await here.run(["--resume", id, "-p", "x", "--fake", scriptFile(["x"]), ...more]);
      expect(run.code).toBe(2);
      expect(run.stderr).toMatch(new RegExp(`linefeed attach ${id}`));
    }
    const fork = await here.run(["--resume", id, "--fork-session", "-p", "x", "--fake", scriptFile(["x"])]);
    expect(fork.code).toBe(0);
    expect(existsSync(join(here.sessions, id))).toBe(true);
  });
});
