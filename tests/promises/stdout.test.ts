import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import {
  CLI,
  cleanEnv,
  joined,
  ofType,
  resultOf,
  runCli,
  runShell,
  scriptFile,
  temporaryFolder,
} from "../support/cli.ts";
import { lint, parseLines } from "../support/lint.ts";
import { ask, provider, providerEnv } from "../support/provider.ts";

const bash = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});

describe("stdout is the protocol", () => {
  it("PU-01, PU-06: debug variables of every library change nothing, and a success is silent on stderr", async () => {
    const server = await provider(answer().text("hello").done());
    const run = await ask(server, [], {
      env: { DEBUG: "*", ANTHROPIC_LOG: "debug", UNDICI_DEBUG: "1", FORCE_COLOR: "1", TERM: "xterm" },
    });
    expect(lint(run.stdout)).toEqual([]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const noisy = await ask(server, [], {
      env: { NODE_DEBUG: "http,net", NODE_OPTIONS: "--trace-warnings" },
    });
    expect(lint(noisy.stdout)).toEqual([]);
  });

  it("whatever a library prints by console.log comes out on stderr", async () => {
    const chatter = "data:text/javascript,setTimeout(() => console.log('chatter'), 200)".replaceAll(
      " ",
      "%20",
    );
    const run = await runCli(
      [
        "-p",
        "x",
        "--json",
        "--fake",
        scriptFile([{ content: [{ type: "text", text: "hi" }], first_delay_ms: 600 }]),
      ],
      {
        env: { NODE_OPTIONS: `--import=${chatter}` },
      },
    );
    expect(lint(run.stdout)).toEqual([]);
    expect(run.stderr).toBe("chatter\n");
  });

  it("PU-04: what a call prints is only inside string fields", async () => {
    const command = `echo '{"type":"result","seq":1}'; echo plain; echo '{"x":1}' >&2`;
    const run = await runCli([
      "-p",
      "x",
      "--json",
      "--allowed-tools",
      "Bash",
      "--fake",
      scriptFile([bash(command), "ok"]),
    ]);
    expect(lint(run.stdout)).toEqual([]);
  });

  it("FR-01, FR-02, FR-08, FR-12: control characters and line ends of every kind come back as printed", async () => {
    const text =
      "a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg\u001dh\u001ei\rj\r\nk\tl\u0000m\u001b[31mn\\u0000";
    const server = await provider(
      answer()
        .text(text)
        .toolUse("Bash", {
          command: `printf 'W\\0s\\0\\033[1m\\r\\n\\r\\302\\205\\342\\200\\250'; printf '%s' '\\u0000'`,
        })
        .done(),
      answer().text("ok").done(),
    );
    const run = await ask(server, ["--allowed-tools", "Bash"]);
    expect(lint(run.stdout)).toEqual([]);
    expect(joined(run.events, "text_delta", 1)).toBe(text);
    const printed = "W\0s\0\u001b[1m\r\n\r\u0085\u2028\\u0000";
    expect(ofType(run.events, "tool_end")[0]?.content).toBe(printed);
    expect(
      ofType(run.events, "tool_output_delta")
        .map((event) => event.text)
        .join(""),
    ).toBe(printed);
    const python = `import sys; t = open("out", encoding="utf-8").read(); assert len(t.splitlines()) == t.count("\\n"), "split"`;
    const folder = temporaryFolder();
    const shell = await runShell(
      `$LINEFEED -p x --json --allowed-tools Bash > out; python3 -c '${python}'; echo $?`,
      {
        cwd: folder,
        env: providerEnv(server),
      },
    );
    expect(shell.stdout.toString()).toBe("0\n");
  });

  it("FR-06: a lone surrogate in text and arguments neither leaves nor breaks the next request", async () => {
    const lone = String.raw`{"command": "echo \ud83d"}`;
    const start = answer().toolUse("Bash", lone);
    const server = await provider(
      start
        .raw(
          `event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}\n\n`,
        )
        .raw(
          `event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\\ud83d"}}\n\n`,
        )
        .raw(`event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n`)
        .done({ stopReason: "tool_use" }),
      answer().text("ok").done(),
    );
    const run = await ask(server, ["--allowed-tools", "Bash"]);
    expect(lint(run.stdout)).toEqual([]);
    expect(run.code).toBe(0);
    expect(server.requests[1]?.text).not.toMatch(/\\ud83d/i);
    expect(joined(run.events, "text_delta", 1)).toBe("\uFFFD");
  });
});

describe("a reader that goes away", () => {
  it("PI-06: head stops the agent: no stack trace, no survivor, nothing more is asked, exit 141", async () => {
    const folder = temporaryFolder();
    const server = await provider(
      {
        steps: [
          answer().toolUse("Bash", { command: "echo $$ > pid; exec sleep 96" }).unfinished(),
          { wait: 700 },
          answer().text("never").done(),
        ],
      },
      answer().text("never").done(),
    );
    const shell = await runShell(
      `$LINEFEED -p x --json --allowed-tools Bash | head -n 1 >first; echo "\${PIPESTATUS[0]}"`,
      {
        cwd: folder,
        env: providerEnv(server),
      },
    );
    expect(shell.stdout.toString()).toBe("141\n");
    expect(shell.stderr).toBe("");
    expect(JSON.parse(readFileSync(join(folder, "first"), "utf8"))).toMatchObject({ type: "init" });
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

  it("FR-03: calls side by side and a slow reader never share a line", async () => {
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

  it("PU-07: a stderr that nobody reads blocks nothing", async () => {
    const frames = Array.from(
      { length: 2000 },
      (_, n) => `event: odd_${n}\ndata: {"type":"odd_${n}"}\n\n`,
    ).join("");
    const server = await provider(answer().raw(frames).text("fine").done());
    const child = spawn(process.execPath, [CLI, "-p", "x", "--json"], {
      env: cleanEnv(providerEnv(server)),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.pause();
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(0);
    child.stderr.destroy();
    expect(lint(Buffer.concat(parts))).toEqual([]);
  });
});

describe("merging, from the provider to the line", () => {
  it("DM-08: the number of lines is bounded by time, size and boundaries, and the text is exact", async () => {
    const server = await provider(
      answer({ deltaSize: 1 }).text("abcdefghij".repeat(5_000)).done(),
      answer({ deltaSize: 1_000_000 }).text("x".repeat(5_000_000)).done(),
    );
    for (const text of ["abcdefghij".repeat(5_000), "x".repeat(5_000_000)]) {
      const run = await ask(server);
      expect(lint(run.stdout)).toEqual([]);
      expect(joined(run.events, "text_delta")).toBe(text);
      const lines = ofType(run.events, "text_delta").length;
      expect(lines).toBeLessThanOrEqual(resultOf(run).duration_ms / 50 + text.length / 16_384 + 3);
    }
  });

  it("every delta is a line of its own with --coalesce-ms 0, and none is one with --no-deltas", async () => {
    const server = await provider(answer({ deltaSize: 1 }).text("0123456789".repeat(20)).done());
    const each = await ask(server, ["--coalesce-ms", "0"]);
    expect(ofType(each.events, "text_delta").map((event) => event.text)).toEqual(
      Array.from("0123456789".repeat(20)),
    );
    const none = await ask(server, ["--no-deltas"]);
    expect(lint(none.stdout)).toEqual([]);
    expect(ofType(none.events, "text_delta")).toEqual([]);
    expect(resultOf(none).text).toBe("0123456789".repeat(20));
  });

  it("two tool steps: joined deltas equal the messages, arguments reach tool, stream and next request as written", async () => {
    const input = { command: "printf '%s' 'ünïcödé 😀 \u2028'", description: "1.0 and more" };
    const server = await provider(
      answer({ deltaSize: 3 })
        .thinking("let me see", "sig==")
        .text("first ")
        .text("and second")
        .toolUse("Bash", input)
        .done(),
      answer({ deltaSize: 5 }).text("again").toolUse("Bash", `{"2":"b","1":"a","command":"echo two"}`).done(),
      answer().text("the end").done(),
    );
    const run = await ask(server, ["--allowed-tools", "Bash", "--include-tool-input"]);
    expect(lint(run.stdout)).toEqual([]);
    for (const message of ofType(run.events, "message")) {
      for (const [index, block] of message.content.entries()) {
        const deltas = run.events.filter(
          (event) => "block" in event && event.block === index && event.step === message.step,
        );
        const text = deltas
          .map((event) => ("partial_json" in event ? event.partial_json : "text" in event ? event.text : ""))
          .join("");
        if (block.type === "text") expect(text).toBe(block.text);
        if (block.type === "thinking") expect(text).toBe(block.thinking);
        if (block.type === "tool_use") expect(JSON.parse(text)).toEqual(block.input);
      }
    }
    expect(ofType(run.events, "tool_start").map((event) => event.input)[0]).toEqual(input);
    expect(ofType(run.events, "tool_end")[0]?.content).toBe("ünïcödé 😀 \u2028");
    // Arguments that the tool does not know are refused, and go back as they were written.
    expect(ofType(run.events, "tool_end")[1]).toMatchObject({ status: "error", is_error: true });
    const second = server.requests[1]?.body as { messages: { role: string; content: object[] }[] };
    expect(second.messages[1]?.content).toMatchObject([
      { type: "thinking", thinking: "let me see", signature: "sig==" },
      { type: "text", text: "first " },
      { type: "text", text: "and second" },
      { type: "tool_use", name: "Bash", input },
    ]);
  });
});

describe("promptness", () => {
  it("PI-03, DM-02: what the model has said is out while the model is silent", async () => {
    const server = await provider({
      steps: [answer({ deltaSize: 3 }).text("one two three").unfinished(), { stall: true }],
    });
    const run = await ask(server, ["--heartbeat", "0"], {
      during: (child) => {
        let seen = "";
        child.stdout?.on("data", (chunk: Buffer) => {
          seen += chunk.toString();
          const text = seen
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line) as { type: string; text?: string });
          if (
            text.map((event) => (event.type === "text_delta" ? event.text : "")).join("") === "one two three"
          )
            child.kill();
        });
      },
    });
    expect(run.signal).toBe("SIGTERM");
    expect(lint(run.stdout)).toEqual([]);
  });

  it("PI-08: each event passes jq --unbuffered at once, and the last record is whole after a kill", async () => {
    const script = scriptFile([{ content: [{ type: "text", text: "hello there" }], stall: true }]);
    const run = await runShell(
      `$LINEFEED -p x --json --heartbeat 0 --fake ${script} | jq --unbuffered -c .type | { grep -m1 text_delta; pkill -9 -f ${script}; cat; }`,
    );
    expect(run.stdout.toString()).toContain('"text_delta"');
  });

  it("a heartbeat says what a silent run waits for", async () => {
    const script = scriptFile([
      bash("sleep 1"),
      { content: [{ type: "text", text: "ok" }], first_delay_ms: 700 },
    ]);
    const run = await runCli([
      "-p",
      "x",
      "--json",
      "--heartbeat",
      "200ms",
      "--allowed-tools",
      "Bash",
      "--fake",
      script,
    ]);
    expect(lint(run.stdout)).toEqual([]);
    const beats = ofType(run.events, "heartbeat").map((event) => event.waiting_for);
    expect(beats).toContain("tool");
    expect(beats).toContain("model");
    const without = await runCli([
      "-p",
      "x",
      "--json",
      "--heartbeat",
      "0",
      "--allowed-tools",
      "Bash",
      "--fake",
      script,
    ]);
    expect(ofType(without.events, "heartbeat")).toEqual([]);
  });
});
