import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLI, cleanEnv, ofType, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { Conversation, user } from "../support/conversation.ts";
import { lint } from "../support/lint.ts";

// Prompts that come while the run goes on: who waits for whom, and what ends the wait.

const MIB = 1024 * 1024;
const JSONL = ["--input-format", "jsonl"];
const answers = () => scriptFile(["one", "two", "three", "four"]);
const stalled = () => scriptFile(["one", { content: [{ type: "text", text: "I think" }], stall: true }]);

describe("a conversation with another program", () => {
  it("is over when the time of the run is, waiting for a prompt included", async () => {
    const talk = new Conversation([...JSONL, "--timeout", "1500ms", "--fake", answers()]);
    talk.say(user("a"));
    expect(await talk.end()).toEqual({ code: 3, signal: null });
    expect(lint(talk.stdout)).toEqual([]);
    expect(ofType(talk.events, "turn_end").map((event) => event.status)).toEqual(["ok"]);
    expect(ofType(talk.events, "result")).toMatchObject([{ status: "limit", error: { code: "timeout" } }]);
  });

  it("IN-07, US-02: each answer comes before the next prompt is written; the end of input ends the run", async () => {
    const talk = new Conversation([...JSONL, "--fake", answers()]);
    await talk.until("init");
    for (const turn of [1, 2, 3]) {
      talk.say({ type: "user", text: `prompt ${turn}` });
      await talk.until("turn_end", turn);
    }
    talk.say("no prompt\n");
    await talk.until("turn_end", 4);
    talk.hangUp();
    expect(await talk.end()).toEqual({ code: 1, signal: null });
    expect(lint(talk.stdout)).toEqual([]);
    expect(ofType(talk.events, "result")).toMatchObject([{ text: null, turns: 4, steps: 3 }]);
    // Steps have messages, turns and the run have totals: each sum is that of the lines below it.
    const tokens = (type: "message" | "turn_end" | "result") =>
      ofType(talk.events, type).reduce((sum, { usage }) => sum + (usage?.output_tokens ?? 0), 0);
    expect(tokens("message")).toBeGreaterThanOrEqual(3);
    expect([tokens("turn_end"), tokens("result")]).toEqual([tokens("message"), tokens("message")]);
  });

  it("SG-03: an input that ends while the run waits ends the run", async () => {
    const talk = new Conversation([...JSONL, "-p", "a", "--fake", answers()]);
    await talk.until("turn_end");
    talk.hangUp();
    expect(await talk.end()).toEqual({ code: 0, signal: null });
  });

  it("is silent while it waits for a prompt", async () => {
    const talk = new Conversation([...JSONL, "--heartbeat", "100ms", "--fake", stalled()]);
    await new Promise((resolve) => setTimeout(resolve, 600));
    talk.say(user("a"));
    await talk.until("turn_end");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(ofType(talk.events, "heartbeat")).toEqual([]);
    talk.say(user("b"));
    await talk.until("heartbeat", 2);
    expect(ofType(talk.events, "heartbeat")).toMatchObject([{ turn: 2, waiting_for: "model" }, { turn: 2 }]);
  });

  it.each([
    ["SIGTERM", 0, "cancelled"],
    ["SIGINT", 1, "cancelled"],
  ] as const)(
    "%s ends the wait for a prompt, also after a turn that failed",
    async (name, failed, status) => {
      const talk = new Conversation([...JSONL, "--fake", answers()]);
      talk.say(failed ? "hello\n" : user("a"));
      await talk.until("turn_end");
      talk.child.kill(name);
      expect(await talk.end()).toEqual({ code: null, signal: name });
      expect(lint(talk.stdout)).toEqual([]);
      expect(ofType(talk.events, "result")).toMatchObject([
        { status, signal: name, exit_code: name === "SIGINT" ? 130 : 143, error: { code: "cancelled" } },
      ]);
    },
  );

  it("PI-06: a reader on a socket that goes away ends the wait at once", async () => {
    const talk = new Conversation([...JSONL, "-p", "a", "--fake", answers()]);
    await talk.until("turn_end");
    talk.child.stdout?.destroy();
    expect(await talk.end()).toEqual({ code: 141, signal: null });
  });

  it("PI-06: a reader on a pipe that goes away is seen at the next prompt", async () => {
    const run = await runShell(
      `(sleep 30 & echo $! > sleeper; echo '${user("a").trim()}'; sleep 1; echo '${user("b").trim()}'; wait) |
        { $LINEFEED --input-format jsonl --json --no-deltas --fake ${answers()}; echo "code $?" >&2; kill $(cat sleeper); } |
        head -n 6 | jq -r .type`,
      { cwd: temporaryFolder() },
    );
    expect(run.stdout.toString().split("\n").slice(-2)).toEqual(["turn_end", ""]);
    expect(run.stderr).toBe("code 141\n");
  });
});

describe("input without end", () => {
  it("is read no faster than it is answered", async () => {
    const talk = new Conversation([...JSONL, "--fake", stalled()]);
    let taken = false;
    talk.say(user("a"));
    talk.child.stdin?.write(user("y".repeat(1000)).repeat(20_000), () => {
      taken = true;
    });
    await talk.until("turn_end");
    await talk.until("text_delta", 2);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(taken).toBe(false);
  });

  // The system tells the highest memory of a process on Linux alone.
  it.skipIf(process.platform !== "linux")("CO-03: a line of 300 MB never sits in memory", async () => {
    const talk = new Conversation([...JSONL, "--no-deltas", "--fake", answers()]);
    talk.say(user("a"));
    await talk.until("turn_end");
    const before = highestMemory(talk.child.pid);
    const piece = "z".repeat(MIB);
    for (let mib = 0; mib < 300; mib += 1) {
      if (!talk.child.stdin?.write(piece) && talk.child.stdin) await once(talk.child.stdin, "drain");
    }
    talk.say(`\n${user("b")}`);
    await talk.until("turn_end", 3);
    expect(highestMemory(talk.child.pid) - before).toBeLessThan(60 * MIB);
    expect(ofType(talk.events, "turn_end")[1]?.error?.message).toContain(`${300 * MIB} bytes`);
    talk.hangUp();
    await talk.end();
  });

  it("a file of many lines is one as well", async () => {
    const file = join(temporaryFolder(), "prompts.jsonl");
    writeFileSync(file, user("a") + "x\n".repeat(20_000) + user("b"));
    const run = await runShell(`$LINEFEED --input-format jsonl --json --fake ${answers()} < ${file}`);
    expect(lint(run.stdout)).toEqual([]);
    expect(run.stdout.toString()).toContain('"turns":20002,');
  });
});

describe("a terminal", () => {
  const onTerminal = async (args: string[]) => {
    const words = [process.execPath, CLI, ...JSONL, ...args, "--output-format", "text", "--fake", answers()];
    const child = spawn(
      "python3",
      ["-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)", ...words],
      { env: cleanEnv(), stdio: ["pipe", "pipe", "inherit"] },
    );
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stdin.write(`${user("typed")}\u0004`);
    const [code] = (await once(child, "close")) as [number];
    return { code, out };
  };

  it("is not read, so that whoever forgot the pipe is told", async () => {
    const { code, out } = await onTerminal(["-p", "hi"]);
    expect(code).toBe(2);
    expect(out).toContain("that is a terminal");
  });

  it("is read if `-` says so", async () => {
    const { code, out } = await onTerminal(["-"]);
    expect(out).toContain("one\r\n");
    expect(code).toBe(0);
  });
});

/** In bytes. */
function highestMemory(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
