import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FORMATS } from "../../src/cli/format.ts";
import type { Script } from "../../src/model/scripted/script.ts";
import { answer } from "../../src/testing/index.ts";
import { CLI, cleanEnv, ofType, resultOf, runCli, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint, parseLines } from "../support/lint.ts";
import { ask, provider } from "../support/provider.ts";

const bash = (command: string) => ({ type: "tool_use" as const, name: "Bash", input: { command } });
const read = (file_path: string) => ({ type: "tool_use" as const, name: "Read", input: { file_path } });
const text = (words: string) => ({ type: "text" as const, text: words });

/** All that is chance in a run: cuts of text and output, two pipes, reads side by side, retries, children, files. */
const RESTLESS: Script["answers"] = [
  {
    content: [text("broken off")],
    delay_ms: 2,
    fault: { code: "overloaded", retryable: true, retry_after_ms: 10, after_characters: 6 },
  },
  {
    content: [
      { type: "thinking", thinking: "Long and slow. ".repeat(20) },
      text("Öffne 📂 beide. ".repeat(3000)),
      read("package.json"),
      read("README.md"),
      read("missing.txt"),
      read("LICENSE"),
      bash("for n in 1 2 3 4 5 6; do echo out $n; echo err $n >&2; sleep 0.01; done"),
      bash("seq 1 20000; seq 1 3000 >&2"),
      // A child that has not become `sleep` yet would be named as the shell that it was.
      bash(
        "(for n in 300 301; do sleep $n & until grep -qx sleep /proc/$!/comm; do :; done; done) >/dev/null 2>&1; exit 3",
      ),
    ],
    chunk_characters: 7,
  },
  { content: [text("Done. "), text("Really.")], delay_ms: 1 },
];
const FLAGS = ["-p", "x", "--deterministic", "--dangerously-skip-permissions"];

/** The stdout of a run whose reader takes little at a time, and then looks away for some ms. */
async function readSlowly(args: readonly string[], pauseMs: number, env: NodeJS.ProcessEnv): Promise<Buffer> {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: cleanEnv(env),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    await wait(pauseMs);
  }
  return Buffer.concat(chunks);
}

describe("--deterministic", () => {
  it("prints the same bytes twenty times, under load, however slow the reader is", async () => {
    const script = scriptFile(RESTLESS);
    const temporary = temporaryFolder();
    const run = (pauseMs: number) =>
      readSlowly([...FLAGS, "--json", "--fake", script], pauseMs, { TMPDIR: temporary });
    const first = await run(0);
    expect(lint(first)).toEqual([]);
    const busy = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
    try {
      for (let n = 1; n < 20; n += 1) expect((await run((n % 4) * 10)).equals(first)).toBe(true);
    } finally {
      busy.kill("SIGKILL");
    }
    const events = parseLines(first);
    const outputs = ofType(events, "tool_output_delta").map(({ stream, text: said }) => [
      stream,
      said.slice(0, 6),
    ]);
    expect(outputs.slice(0, 2)).toEqual([
      ["stdout", "out 1\n"],
      ["stderr", "err 1\n"],
    ]);
    expect(ofType(events, "notice").at(-1)?.message).toBe(
      "ended with the run: sleep 300, sleep 301; --keep-children lets them live",
    );
  });

  it.each(FORMATS)("as %s", async (format) => {
    const script = scriptFile(RESTLESS);
    const run = () =>
      runCli([...FLAGS, "--fake", script, "--output-format", format], { env: { TMPDIR: temporary } });
    const temporary = temporaryFolder();
    const [one, two] = [await run(), await run()];
    expect(one.stdout.length).toBeGreaterThan(10);
    expect(one.stdout.equals(two.stdout)).toBe(true);
    expect(two.code).toBe(0);
  });

  it("fixes the session, the times of lines and all durations", async () => {
    const { events, stdout } = await runCli([...FLAGS, "--json", "--fake", scriptFile(["Hello."])]);
    expect(lint(stdout)).toEqual([]);
    expect(new Set(events.map((event) => event.session_id))).toEqual(
      new Set(["019b76da-a800-7000-8000-000000000000"]),
    );
    expect(events.map((event) => Date.parse(event.ts))).toEqual(
      events.map((_, n) => Date.UTC(2026, 0, 1) + n),
    );
    expect(ofType(events, "step_end")).toMatchObject([{ ttft_ms: 0, duration_ms: 0 }]);
    expect(ofType(events, "result")).toMatchObject([{ duration_ms: 0, api_duration_ms: 0 }]);
    expect(ofType(events, "text_delta").map((event) => event.text)).toEqual(["Hello."]);
  });

  it("leaves every delta by itself with --coalesce-ms 0", async () => {
    const { events } = await runCli([
      ...FLAGS,
      "--json",
      "--coalesce-ms",
      "0",
      "--fake",
      scriptFile(["Hello you."]),
    ]);
    expect(ofType(events, "text_delta").map((event) => event.text)).toEqual(["Hell", "o yo", "u."]);
  });

  it("waits for no chance before a retry, and says no heartbeat", async () => {
    const fault = { code: "network", retryable: true } as const;
    const script = scriptFile([{ fault }, { fault }, "At last."]);
    const flags = [...FLAGS, "--json", "--replay-speed", "full", "--heartbeat", "1ms"];
    const { events } = await runCli([...flags, "--fake", script]);
    expect(ofType(events, "retry").map(({ delay_ms }) => delay_ms)).toEqual([1000, 2000]);
    expect(ofType(events, "heartbeat")).toEqual([]);
  });

  it("still has its time-outs", async () => {
    const script = scriptFile([{ content: [text("so far")], stall: true }]);
    const flags = [...FLAGS, "--json", "--timeout", "2s"];
    const runs = [await runCli([...flags, "--fake", script]), await runCli([...flags, "--fake", script])];
    expect(runs.map((run) => run.code)).toEqual([3, 3]);
    expect(runs[0]?.stdout.equals(runs[1]?.stdout ?? Buffer.alloc(0))).toBe(true);
    const sleeper = scriptFile([{ content: [bash("sleep 60")] }, "x"]);
    const run = await runCli([...FLAGS, "--json", "--tool-timeout", "200ms", "--fake", sleeper]);
    expect(ofType(run.events, "tool_end")).toMatchObject([{ status: "timeout", duration_ms: 0 }]);
  });

  it("does not let the cuts of a network show either", async () => {
    const words = answer({ id: "msg_1" }).thinking("Hm 🤔.").text("Twelve bottles. ".repeat(40)).done();
    const one = await ask(await provider({ steps: [words], cutEvery: 11 }), ["--deterministic"]);
    const two = await ask(await provider({ steps: [words] }), ["--deterministic"]);
    expect(one.stdout.equals(two.stdout)).toBe(true);
  });

  it("makes two recordings equal, to the byte", async () => {
    const folder = temporaryFolder();
    const script = scriptFile(["One.", "Two."]);
    for (const name of ["a", "b"]) await runCli([...FLAGS, "--fake", script, "--record", join(folder, name)]);
    expect(readFileSync(join(folder, "a"), "utf8")).toBe(readFileSync(join(folder, "b"), "utf8"));
  });

  it("is the same for a command line that is wrong", async () => {
    const wrong = () => runCli([...FLAGS, "--json", "--fake", "missing.json"]);
    const [one, two] = [await wrong(), await wrong()];
    expect(one.stdout.equals(two.stdout)).toBe(true);
    expect(resultOf(one)).toMatchObject({ ts: "2026-01-01T00:00:00.000Z", exit_code: 2 });
  });
});
