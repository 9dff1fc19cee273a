import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ofType, resultOf, runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { bash, faultsOf, hello, modesIn, newState, onlyId } from "../support/sessions.ts";

describe("the log", () => {
  it("PI-07: holds what stdout has, byte for byte, through 201 calls", async () => {
    const state = newState();
    const reads = Array.from({ length: 8 }, () => ({
      type: "tool_use" as const,
      name: "Read",
      input: { file_path: "package.json", limit: 3 },
    }));
    const steps = Array.from({ length: 25 }, () => ({ content: reads }));
    const script = scriptFile([bash("echo one; echo two"), ...steps, "Ä 漢字 🫖\u2028 done."]);
    const args = ["-p", "x", "--include-tool-input", "--coalesce-ms", "0", "--allowed-tools", "Bash"];
    const run = await state.run([...args, "--fake", script]);
    expect(ofType(run.events, "tool_end").filter(({ status }) => status === "ok")).toHaveLength(201);
    expect(readFileSync(state.log(onlyId(state))).equals(run.stdout)).toBe(true);
  });

  it.each(["text", "json", "pretty"])("is JSON lines where stdout is %s, deltas too", async (format) => {
    const state = newState();
    const run = await state.run(["-p", "x", "--fake", hello(), "--output-format", format]);
    expect(run.code).toBe(0);
    const log = readFileSync(state.log(onlyId(state)));
    expect(lint(log)).toEqual([]);
    expect(ofType(state.lines(onlyId(state)), "text_delta").length).toBeGreaterThan(0);
  });

  it("has the run's own flags about deltas", async () => {
    const state = newState();
    await state.run(["-p", "x", "--fake", hello(), "--no-deltas", "--output-format", "text"]);
    expect(ofType(state.lines(onlyId(state)), "text_delta")).toEqual([]);
  });

  it("says beside itself what there is to know", async () => {
    const state = newState();
    const cwd = temporaryFolder();
    await state.run(["-p", "x", "--fake", hello(), "--name", "the first"], { cwd });
    const meta: unknown = JSON.parse(readFileSync(join(state.folder(onlyId(state)), "meta.json"), "utf8"));
    expect(meta).toEqual({
      name: "the first",
      cwd,
      model: "fake",
      host: expect.any(String),
      machine_id: existsSync("/etc/machine-id") ? expect.stringMatching(/^[\da-f]{32}$/) : null,
      boot_id: process.platform === "linux" ? expect.stringMatching(/^[\da-f-]{36}$/) : null,
      created: state.lines(onlyId(state))[0]?.ts,
      process_mark: expect.stringMatching(/^[\da-f]{16}$/),
      writer: {
        pid: expect.any(Number),
        start_time: process.platform === "linux" ? expect.any(Number) : null,
      },
    });
  });

  it.each([["--no-session-persistence"], ["--deterministic"]])("is not kept with %s", async (flag) => {
    const state = newState();
    const run = await state.run(["-p", "x", "--fake", hello(), flag]);
    expect(run.code).toBe(0);
    expect(state.ids()).toEqual([]);
  });

  it("is begun by no command line that is wrong", async () => {
    const state = newState();
    await state.run(["-p", " ", "--fake", hello()]);
    await state.run(["-p", "x", "--fake", hello(), "--max-steps", "many"]);
    expect(state.ids()).toEqual([]);
  });

  it("LG-04: is for its owner's eyes, whatever the umask", async () => {
    for (const umask of ["000", "077", "777"]) {
      const state = newState();
      const script = scriptFile([bash("seq 1 20000"), "done"]);
      const command = `umask ${umask}; exec $LINEFEED -p x --json --allowed-tools Bash --fake ${script}`;
      const run = await runShell(command, { env: state.env });
      expect(run.code).toBe(0);
      const modes = modesIn(join(state.sessions, ".."));
      const files = Object.entries(modes).filter(([name]) => /\.\w+$/.test(name));
      expect(files.map(([name]) => name.replace(/^.*?[\da-f-]{36}\//, "")).toSorted()).toEqual([
        "events.jsonl",
        "meta.json",
        "output/toolu_fake_1_1.txt",
        "worker.1.sock",
      ]);
      expect(new Set(files.map(([, mode]) => mode))).toEqual(new Set(["600"]));
      const folders = Object.entries(modes).filter(([name]) => !/\.\w+$/.test(name));
      expect(new Set(folders.map(([, mode]) => mode))).toEqual(new Set(["700"]));
    }
  });

  it("whole outputs of calls outlive the run, and the model may read them, in a later run too", async () => {
    const state = newState();
    await state.run([
      "-p",
      "x",
      "--allowed-tools",
      "Bash",
      "--fake",
      scriptFile([bash("seq 1 20000"), "done"]),
    ]);
    const file = join(state.folder(onlyId(state)), "output", "toolu_fake_1_1.txt");
    expect(readFileSync(file, "utf8").split("\n").length).toBe(20_001);
    const read = { type: "tool_use" as const, name: "Read", input: { file_path: file, limit: 1 } };
    const again = await state.run(["-c", "-p", "y", "--fake", scriptFile([{ content: [read] }, "done"])]);
    expect(ofType(again.events, "tool_end")).toMatchObject([{ status: "ok" }]);
  });

  it("EO-04: of each of six runs side by side holds that run alone", async () => {
    const state = newState();
    const cwd = temporaryFolder();
    const script = hello();
    const runs = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => state.run(["-p", `prompt ${n}`, "--fake", script], { cwd })),
    );
    expect(state.ids().length).toBe(6);
    for (const run of runs) {
      const id = String(run.events[0]?.session_id);
      expect(readFileSync(state.log(id)).equals(run.stdout)).toBe(true);
      expect(new Set(run.events.map(({ session_id }) => session_id))).toEqual(new Set([id]));
    }
  });

  it("VO-02: of ten runs grows in proportion to what was said", async () => {
    const state = newState();
    const text = "word ".repeat(4000);
    const script = scriptFile([{ content: [{ type: "text", text }] }]);
    for (let n = 0; n < 10; n += 1) await state.run(["-p", "x", "--fake", script, "--output-format", "text"]);
    const bytes = state.ids().reduce((sum, id) => sum + readFileSync(state.log(id)).length, 0);
    expect(bytes).toBeLessThan(10 * text.length * 5);
  });
});

describe("EN-04: a place that cannot be written", () => {
  const places: [string, () => NodeJS.ProcessEnv][] = [
    ["a file in its way", () => ({ LINEFEED_STATE_DIR: scriptFile([]) })],
    ["a file system that takes nothing", () => ({ LINEFEED_STATE_DIR: "/proc/self" })],
    ["no HOME", () => ({ LINEFEED_STATE_DIR: undefined, HOME: undefined })],
  ];

  it.each(places)("%s: the run goes on, with one notice", async (_, env) => {
    const run = await runCli(["-p", "x", "--json", "--fake", hello()], { env: env() });
    expect(lint(run.stdout)).toEqual([]);
    expect(run.code).toBe(0);
    expect(run.stderr).toBe("");
    expect(ofType(run.events, "notice")).toMatchObject([{ code: "log_unavailable", level: "warning" }]);
  });

  it("is told on stderr where notices are not printed", async () => {
    const run = await runCli(["-p", "x", "--output-format", "text", "--fake", hello()], {
      env: { LINEFEED_STATE_DIR: "/proc/self" },
    });
    expect(run.stdout.toString()).toBe("Hello.\n");
    expect(run.stderr).toMatch(/^linefeed: this session is not kept .* \[log_unavailable\]\n$/);
  });
});

describe("LG-01: a disk that fills up", () => {
  /** In units of 512 or 1024 bytes, by the shell. */
  const LIMIT = 16;
  const long = () =>
    scriptFile([
      { content: [{ type: "text", text: "word ".repeat(20_000) }] },
      { content: [{ type: "text", text: "more" }] },
    ]);

  it("costs the rest of the log, with one notice; what was kept can be resumed", async () => {
    const state = newState();
    const command = `ulimit -f ${LIMIT}; exec $LINEFEED -p x --json --coalesce-ms 0 --fake ${long()} | cat`;
    const run = await runShell(`set -o pipefail; ${command}`, { env: state.env });
    expect(lint(run.stdout)).toEqual([]);
    expect(run.code).toBe(0);
    const lines = run.stdout.toString().split("\n");
    const notices = lines.filter((line) => line.includes("log_unavailable"));
    expect(notices.length).toBe(1);
    expect(notices[0]).toContain("ulimit -f");
    const id = onlyId(state);
    const kept = readFileSync(state.log(id));
    expect(kept.length).toBeGreaterThan(4000);
    // What is there are whole lines, the same that stdout had up to the notice.
    expect(run.stdout.subarray(0, kept.length).equals(kept)).toBe(true);
    expect(kept.toString().endsWith("\n")).toBe(true);
    const again = await state.run(["-r", id, "-p", "go on", "--fake", hello()]);
    expect(resultOf(again).text).toBe("Hello.");
    expect(faultsOf(state.log(id))).toEqual([]);
  });

  it("the notice comes before the last word, though it be the last word that finds no room", async () => {
    const state = newState();
    const probe = await state.run(["-p", "x", "--fake", hello(), "--no-deltas"]);
    const before = Math.ceil((probe.stdout.length - 100) / 1024) * 1024;
    // The prompt pads the log so that only its last line is over the limit.
    const pad = before - (probe.stdout.length - 100);
    const script = hello();
    const command = `ulimit -f ${before / 1024}; exec $LINEFEED -p x${"y".repeat(pad)} --json --no-deltas --fake ${script} | cat`;
    const other = newState();
    const run = await runShell(`set -o pipefail; ${command}`, { env: other.env });
    expect(lint(run.stdout)).toEqual([]);
    const types = run.stdout
      .toString()
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.slice(-2)).toEqual(["notice", "result"]);
  });
});

it("a log that is removed during the run is told, and the run goes on", async () => {
  const state = newState();
  const run = await state.run(
    [
      "-p",
      "x",
      "--allowed-tools",
      "Bash",
      "--fake",
      scriptFile([bash("until [ -e go ]; do sleep 0.05; done"), "done"]),
    ],
    {
      cwd: temporaryFolder(),
      during: (child) => {
        child.stdout?.on("data", (chunk: Buffer) => {
          if (!chunk.includes("tool_start")) return;
          rmSync(state.folder(onlyId(state)), { recursive: true });
          child.kill("SIGTERM");
        });
      },
    },
  );
  expect(lint(run.stdout)).toEqual([]);
  expect(ofType(run.events, "notice")).toMatchObject([{ code: "log_unavailable" }]);
  expect(run.signal).toBe("SIGTERM");
});
