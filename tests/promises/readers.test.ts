import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  CLI,
  cleanEnv,
  joined,
  ofType,
  resultOf,
  runShell,
  scriptFile,
  temporaryFolder,
} from "../support/cli.ts";
import { user } from "../support/conversation.ts";
import { lint, parseLines } from "../support/lint.ts";
import { bash, newState, onlyId } from "../support/sessions.ts";

describe("a reader that goes away", () => {
  it("PI-06: head stops the agent: no stack trace, no survivor, nothing more is asked, exit 141", async () => {
    const cwd = temporaryFolder();
    const state = newState();
    const script = scriptFile([bash("echo $$ > pid; exec sleep 96"), "never"]);
    // The pipe is closed in the middle of the call; the next heartbeat finds that out.
    const command = `$LINEFEED -p x --json --heartbeat 200ms --allowed-tools Bash --fake ${script} | (until [ -s pid ]; do sleep 0.05; done; head -n 1 >first)`;
    const run = await runShell(`${command}; echo "\${PIPESTATUS[0]}"; set -o pipefail; kill -0 $(cat pid)`, {
      cwd,
      env: state.env,
    });
    expect(run.stdout.toString()).toBe("141\n");
    expect(run.stderr).toMatch(/^[^\n]*No such process\n$/);
    expect(JSON.parse(readFileSync(join(cwd, "first"), "utf8"))).toMatchObject({ type: "init" });
    const log = state.lines(onlyId(state));
    expect(log.slice(-4).map(({ type }) => type)).toEqual(["tool_end", "step_end", "turn_end", "result"]);
    expect(log.at(-1)).toMatchObject({ exit_code: 141, error: { code: "reader_closed" } });
  });

  it("a parent that closes its end of a socket is noticed at once, in the middle of a silent call", async () => {
    const folder = temporaryFolder();
    const script = scriptFile([bash("echo $$ > pid; echo up; exec sleep 95"), "never"]);
    const child = spawn(
      process.execPath,
      [CLI, "-p", "x", "--json", "--allowed-tools", "Bash", "--heartbeat", "0", "--fake", script],
      {
        cwd: folder,
        env: cleanEnv(),
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes('"text":"up')) child.stdout.destroy();
    });
    const stderr: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, Buffer.concat(stderr).toString()]).toEqual([141, ""]);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("a parent that only shuts down its sending side goes on reading", async () => {
    const python = `
import socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.shutdown(socket.SHUT_WR)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=theirs)
theirs.close()
data = b""
while True:
    part = ours.recv(65536)
    if not part: break
    data += part
sys.stdout.buffer.write(data)
sys.exit(p.wait())`;
    const script = scriptFile([bash("sleep 0.5"), "done"]);
    const run = await runShell(
      `python3 -c '${python}' $LINEFEED -p x --json --allowed-tools Bash --fake ${script}`,
    );
    expect(run.code).toBe(0);
    expect(lint(run.stdout)).toEqual([]);
  });

  it("PI-09: a full disk under stdout is an error, told once, and no call runs after it is known", async () => {
    const folder = temporaryFolder();
    const script = scriptFile([bash("touch ran"), "done"]);
    for (const format of ["jsonl", "json", "text"]) {
      const run = await runShell(
        `$LINEFEED -p x --output-format ${format} --allowed-tools Bash --fake ${script} > /dev/full; echo $?; ls`,
        { cwd: folder },
      );
      expect(run.stdout.toString()).toBe(format === "jsonl" ? "1\n" : "1\nran\n");
      expect(run.stderr).toMatch(/^linefeed: stdout cannot be written: ENOSPC.*\n$/);
    }
  });

  it("PI-09: a stdout that was closed before is /dev/null to Node; the log has it all", async () => {
    const state = newState();
    const run = await runShell(`$LINEFEED -p x --json --fake ${scriptFile(["fine"])} >&-`, {
      env: state.env,
    });
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(state.lines(onlyId(state)).at(-1)).toMatchObject({ type: "result", text: "fine" });
  });
});

describe("a reader that is slow", () => {
  const big = () => scriptFile({ chunk_characters: 200, answers: ["0123456789".repeat(30_000)] });

  it("PI-01: a late reader of a pipe gets what a file gets", async () => {
    const folder = temporaryFolder();
    const run = await runShell(
      `$LINEFEED -p x --json --fake ${big()} | (sleep 2; cat) > pipe; echo "\${PIPESTATUS[0]}"; $LINEFEED -p x --json --fake ${big()} > file; echo $?`,
      { cwd: folder },
    );
    expect(run.stdout.toString()).toBe("0\n0\n");
    for (const name of ["pipe", "file"]) {
      const bytes = readFileSync(join(folder, name));
      expect(lint(bytes)).toEqual([]);
      expect(joined(parseLines(bytes), "text_delta")).toBe("0123456789".repeat(30_000));
    }
    expect(statSync(join(folder, "pipe")).size).toBeLessThanOrEqual(statSync(join(folder, "file")).size);
  });

  it("PI-02: a pipe that somebody made non-blocking loses nothing", async () => {
    const python = `
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=w, stderr=w)
os.close(w)
data = b""
while True:
    part = os.read(r, 16384)
    if not part: break
    data += part
    time.sleep(0.005)
sys.stdout.buffer.write(data)
sys.exit(p.wait())`;
    const run = await runShell(`python3 -c '${python}' $LINEFEED -p x --json --fake ${big()}`);
    expect(run.code).toBe(0);
    expect(lint(run.stdout)).toEqual([]);
    expect(joined(parseLines(run.stdout), "text_delta")).toBe("0123456789".repeat(30_000));
  });

  it("leaves the pipe blocking for its neighbours", async () => {
    const check = `import os, sys; sys.exit(0 if os.get_blocking(1) else 9)`;
    const run = await runShell(
      `{ $LINEFEED -p x --json --fake ${big()}; python3 -c '${check}' & python3 -c '${check}'; echo $? >&2; } | (sleep 1; cat) >/dev/null`,
    );
    expect(run.stderr).toBe("0\n");
  });

  it("PI-05: a burst into a socket with a small buffer arrives whole", async () => {
    const python = `
import socket, subprocess, sys, time
ours, theirs = socket.socketpair()
theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=theirs)
theirs.close()
data = b""
while True:
    part = ours.recv(4096)
    if not part: break
    data += part
sys.stdout.buffer.write(data)
sys.exit(p.wait())`;
    const script = scriptFile(["y".repeat(200_000)]);
    const run = await runShell(
      `python3 -c '${python}' $LINEFEED -p x --json --coalesce-ms 0 --fake ${script}`,
    );
    expect(run.code).toBe(0);
    expect(lint(run.stdout)).toEqual([]);
    expect(joined(parseLines(run.stdout), "text_delta")).toHaveLength(200_000);
  });

  it("FR-03: the floods of twenty calls, to the model, the log and a slow reader, never share a line", async () => {
    const folder = temporaryFolder();
    const calls = Array.from({ length: 20 }, (_, n) => ({
      type: "tool_use" as const,
      name: "Bash",
      input: { command: `head -c 100000 /dev/zero | tr '\\0' ${String.fromCharCode(97 + n)}` },
    }));
    const script = scriptFile([{ content: calls }, "done"]);
    const reader = `import sys, time\nwhile True:\n  part = sys.stdin.buffer.read1(20000)\n  if not part: break\n  sys.stdout.buffer.write(part)\n  time.sleep(0.01)`;
    const run = await runShell(
      `$LINEFEED -p x --json --allowed-tools Bash --fake ${script} | python3 -c '${reader}'`,
      { cwd: folder },
    );
    expect(lint(run.stdout)).toEqual([]);
    const ends = ofType(parseLines(run.stdout), "tool_end");
    expect(ends).toHaveLength(20);
    expect(ends.every((end) => end.truncated && end.status === "ok")).toBe(true);
  });

  it(
    "PI-04: 200 MB of output and a reader that stalls stay in bounded memory, and the time-out does not run",
    { timeout: 120_000 },
    async () => {
      const usage = `data:text/javascript,import{writeFileSync}from'node:fs';process.on('exit',()=>writeFileSync('rss',String(process.resourceUsage().maxRSS)))`;
      const folder = temporaryFolder();
      const script = scriptFile([bash("head -c 200000000 /dev/zero | tr '\\0' x; echo; echo end"), "done"]);
      const run = await runShell(
        `NODE_OPTIONS="--import=${usage}" $LINEFEED -p x --json --tool-timeout 20s --allowed-tools Bash --fake ${script} | (sleep 3; cat)`,
        { cwd: folder },
      );
      const events = parseLines(run.stdout);
      expect(lint(run.stdout)).toEqual([]);
      expect(ofType(events, "tool_end")[0]).toMatchObject({ status: "ok", truncated: true });
      expect(String(ofType(events, "tool_end")[0]?.content).trimEnd().endsWith("end")).toBe(true);
      expect(ofType(events, "notice")).toMatchObject([{ code: "tool_output_elided" }]);
      expect(
        ofType(events, "tool_output_delta").reduce((sum, event) => sum + event.text.length, 0),
      ).toBeLessThanOrEqual(1024 * 1024);
      expect(Number(readFileSync(join(folder, "rss"), "utf8")) / 1024).toBeLessThan(150);
      expect(resultOf({ ...run, events })).toMatchObject({ status: "ok" });
    },
  );

  it.each(["a pipe", "a socket"])("PU-07: a stderr that nobody reads blocks nothing: %s", async (kind) => {
    const cwd = temporaryFolder();
    // Each of these lines fails a turn, which text tells on stderr: three times what a pipe or a socket holds.
    writeFileSync(join(cwd, "prompts"), `${user("a")}${"no prompt\n".repeat(2500)}`);
    const script = scriptFile(["fine"]);
    const python = `
import os, socket, subprocess, sys
ours, theirs = os.pipe() if sys.argv[1] == "a pipe" else [end.detach() for end in socket.socketpair()]
p = subprocess.Popen(sys.argv[2:], stdin=open("prompts"), stderr=theirs)
os.close(theirs)
sys.exit(p.wait())`;
    const run = await runShell(
      `python3 -c '${python}' '${kind}' $LINEFEED --debug --input-format jsonl --output-format text --fake ${script}`,
      { cwd },
    );
    expect([run.code, run.stdout.toString()]).toEqual([1, "fine\n"]);
  });
});
