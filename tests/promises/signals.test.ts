import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import {
  CLI,
  cleanEnv,
  ofType,
  resultOf,
  runCli,
  runShell,
  scriptFile,
  temporaryFolder,
} from "../support/cli.ts";
import { lint, parseLines } from "../support/lint.ts";
import { ask, provider } from "../support/provider.ts";

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Name = keyof typeof CODES;

const bash = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});

/** Sends a signal once stdout shows what it waits for. */
function signalWhen(pattern: string, name: Name) {
  return (child: ReturnType<typeof spawn>) => {
    let seen = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      if (seen.includes(pattern)) return;
      seen += chunk.toString();
      if (seen.includes(pattern)) child.kill(name);
    });
  };
}

function alive(pidFile: string): boolean {
  const pid = readFileSync(pidFile, "utf8").trim();
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe("signals", () => {
  it.each(Object.keys(CODES) as Name[])(
    "SG-01, EX-08: %s in a call ends it and everything it started",
    async (name) => {
      const folder = temporaryFolder();
      const command = `sh -c 'echo $$ > child; exec sleep 97' & setsid sh -c 'echo $$ > away; exec sleep 98' & until [ -s child ] && [ -s away ]; do sleep 0.05; done; echo up; sleep 90`;
      const run = await runCli(
        ["-p", "x", "--json", "--allowed-tools", "Bash", "--fake", scriptFile([bash(command), "no"])],
        {
          cwd: folder,
          during: signalWhen('"text":"up', name),
        },
      );
      expect(lint(run.stdout)).toEqual([]);
      expect([run.code, run.signal]).toEqual([null, name]);
      expect(resultOf(run)).toMatchObject({
        status: "cancelled",
        exit_code: CODES[name],
        signal: name,
        error: { code: "cancelled" },
      });
      expect(ofType(run.events, "tool_end")).toMatchObject([{ status: "cancelled", is_error: true }]);
      expect(ofType(run.events, "step_end")).toMatchObject([{ status: "cancelled" }]);
      expect(alive(join(folder, "child"))).toBe(false);
      expect(alive(join(folder, "away"))).toBe(false);
      expect(run.stderr).toBe("");
    },
  );

  it("the shell sees 128 + n, so that loops stop", () => {
    const script = scriptFile([{ stall: true }]);
    const shell = `for i in 1 2 3; do ${process.execPath} ${CLI} -p x --json --fake ${script} </dev/null & pid=$!; sleep 1; kill -TERM $pid; wait $pid; echo $?; break; done`;
    expect(
      execFileSync("bash", ["-c", shell], { env: cleanEnv() }).toString().trim().split("\n").at(-1),
    ).toBe("143");
  });

  it("SG-02: a call that arrives after the signal never runs, and nothing more is asked", async () => {
    const folder = temporaryFolder();
    const server = await provider({
      steps: [
        answer().text("wait").unfinished(),
        { wait: 1500 },
        answer().toolUse("Bash", { command: "touch late" }).done(),
      ],
    });
    const run = await ask(server, ["--allowed-tools", "Bash"], {
      cwd: folder,
      during: signalWhen('"wait"', "SIGINT"),
    });
    expect(run.signal).toBe("SIGINT");
    expect(existsSync(join(folder, "late"))).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it("ends the wait for a retry at once", async () => {
    const server = await provider({ status: 529, body: {}, headers: { "retry-after": "50" } });
    const run = await ask(server, [], { during: signalWhen('"type":"retry"', "SIGTERM") });
    expect(lint(run.stdout)).toEqual([]);
    expect(resultOf(run)).toMatchObject({ status: "cancelled", exit_code: 143 });
  });

  it("gives up a reader that takes nothing, after the drain time-out; the exit code stays", async () => {
    const script = scriptFile({ chunk_characters: 100, answers: ["x".repeat(2_000_000)] });
    const child = spawn(
      process.execPath,
      [CLI, "-p", "x", "--json", "--drain-timeout", "500ms", "--fake", script],
      {
        env: cleanEnv(),
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    // Paused: the pipe fills up and stays full.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(child.exitCode).toBeNull();
    child.kill("SIGTERM");
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on("exit", (...end) => resolve(end)),
    );
    expect([code, signal]).toEqual([null, "SIGTERM"]);
    child.stdout.destroy();
    child.stderr.destroy();
  });

  it("a second signal ends the wait for the reader", async () => {
    const script = scriptFile({ chunk_characters: 100, answers: ["x".repeat(2_000_000)] });
    const child = spawn(
      process.execPath,
      [CLI, "-p", "x", "--json", "--drain-timeout", "1h", "--fake", script],
      {
        env: cleanEnv(),
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    await new Promise((resolve) => setTimeout(resolve, 1000));
    child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(child.signalCode).toBeNull();
    child.kill("SIGTERM");
    expect(await new Promise((resolve) => child.on("exit", (_, signal) => resolve(signal)))).toBe("SIGTERM");
    child.stdout.destroy();
  });

  it("delivers the last word to a reader that is only slow", async () => {
    const script = scriptFile({
      chunk_characters: 100,
      answers: [{ content: [{ type: "text", text: "x".repeat(400_000) }], stall: true }],
    });
    const child = spawn(
      process.execPath,
      [CLI, "-p", "x", "--json", "--drain-timeout", "5s", "--fake", script],
      {
        env: cleanEnv(),
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    await new Promise((resolve) => setTimeout(resolve, 800));
    child.kill("SIGINT");
    const parts: Buffer[] = [];
    const ended = new Promise((resolve) => child.on("close", (_, signal) => resolve(signal)));
    child.stdout.on("data", (part: Buffer) => {
      parts.push(part);
      child.stdout.pause();
      setTimeout(() => child.stdout.resume(), 20);
    });
    expect(await ended).toBe("SIGINT");
    const stdout = Buffer.concat(parts);
    expect(lint(stdout)).toEqual([]);
    expect(parseLines(stdout).at(-1)).toMatchObject({ type: "result", exit_code: 130 });
  });
});

describe("signals at odd moments", () => {
  it("one that comes just after the last line does not change the exit code", async () => {
    const script = scriptFile(["done"]);
    for (let n = 0; n < 15; n += 1) {
      const run = await runCli(["-p", "x", "--json", "--fake", script], {
        during: signalWhen('"type":"result"', "SIGTERM"),
      });
      expect([run.code, run.signal]).toEqual([0, null]);
    }
  });

  it("ones after a time-out end the wait for a reader that takes nothing", async () => {
    const script = scriptFile({
      answers: [
        { content: [{ type: "text", text: "x".repeat(2_000_000) }], chunk_characters: 1000, stall: true },
      ],
    });
    const args = ["-p", "x", "--json", "--timeout", "300ms", "--drain-timeout", "1h", "--fake", script];
    const child = spawn(process.execPath, [CLI, ...args], {
      env: cleanEnv(),
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve([code, signal])));
    child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 100));
    child.kill("SIGINT");
    expect([
      [3, null],
      [null, "SIGINT"],
    ]).toContainEqual(await ended);
    child.stdout.destroy();
  });

  it("without one, a limit waits for a slow reader however long it takes", async () => {
    const script = scriptFile({
      answers: [
        { content: [{ type: "text", text: "x".repeat(400_000) }], chunk_characters: 1000, stall: true },
      ],
    });
    const run = await runShell(
      `$LINEFEED -p x --json --timeout 300ms --drain-timeout 200ms --fake ${script} | (sleep 2; cat)`,
    );
    expect(lint(run.stdout)).toEqual([]);
    expect(parseLines(run.stdout).at(-1)).toMatchObject({ type: "result", exit_code: 3 });
  });

  it("ends a pipe that cannot be opened again, and the wait of a lone result on a full one", async () => {
    const python = `
import os, signal, subprocess, sys, time
linefeed = sys.argv[1:]
if os.geteuid() == 0: linefeed = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] + linefeed
def ends(arguments, full):
    r, w = os.pipe()
    os.fchmod(w, 0)
    if full:
        os.set_blocking(w, False)
        try:
            while True: os.write(w, b"x" * 65536)
        except BlockingIOError: pass
        os.set_blocking(w, True)
    p = subprocess.Popen(linefeed + arguments, stdin=subprocess.DEVNULL, stdout=w, stderr=subprocess.DEVNULL)
    os.close(w)
    time.sleep(1.5)
    if p.poll() is not None: return "too early"
    for _ in range(2):
        p.send_signal(signal.SIGTERM); time.sleep(0.2)
    try: return p.wait(20)
    except subprocess.TimeoutExpired: p.kill(); return "hangs"
print(ends(["-p", "x", "--json", "--drain-timeout", "1h", "--fake", os.environ["SCRIPT"]], False))
print(ends(["--json", "--bogus"], True))`;
    const script = scriptFile({ chunk_characters: 1000, answers: ["x".repeat(2_000_000)] });
    const run = await runShell(`python3 -c '${python}' $LINEFEED`, { env: { SCRIPT: script } });
    expect(run.stdout.toString()).toBe("-15\n2\n");
  });

  it("timers and signals have their turn while a script plays at full speed", async () => {
    const run = await runCli([
      "-p",
      "x",
      "--json",
      "--timeout",
      "200ms",
      "--fake",
      scriptFile(["x".repeat(8_000_000)]),
    ]);
    expect(lint(run.stdout)).toEqual([]);
    expect(resultOf(run)).toMatchObject({ status: "limit", exit_code: 3 });
  });
});

describe("what outlives a call", () => {
  it("TE-09, SG-06: is ended with the run and said so, or listed where it may stay", async () => {
    const folder = temporaryFolder();
    const script = scriptFile([
      bash(
        "setsid sh -c 'echo $$ > away; exec sleep 99' >/dev/null 2>&1 & until [ -s away ]; do sleep 0.05; done",
      ),
      "started",
    ]);
    const args = ["-p", "x", "--json", "--allowed-tools", "Bash", "--fake", script];
    const ended = await runCli(args, { cwd: folder });
    expect(lint(ended.stdout)).toEqual([]);
    expect(resultOf(ended).children_left).toEqual([]);
    expect(ofType(ended.events, "notice")).toMatchObject([{ code: "children_ended" }]);
    expect(alive(join(folder, "away"))).toBe(false);

    const other = temporaryFolder();
    const kept = await runCli([...args, "--keep-children"], { cwd: other });
    const pid = Number(readFileSync(join(other, "away"), "utf8"));
    expect(resultOf(kept).children_left).toMatchObject([{ pid, tool_use_id: "toolu_fake_1_1" }]);
    expect(resultOf(kept).children_left[0]?.command).toContain("sleep 99");
    expect(alive(join(other, "away"))).toBe(true);
    process.kill(pid, "SIGKILL");
  });
});
