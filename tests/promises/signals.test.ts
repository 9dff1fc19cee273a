import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { CLI, cleanEnv, ofType, resultOf, runCli, scriptFile, temporaryFolder } from "../support/cli.ts";
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
