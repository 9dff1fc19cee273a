import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
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
import { lint } from "../support/lint.ts";
import { provider, providerEnv } from "../support/provider.ts";

const GONE = "the working folder is gone or closed to this user; go to another one [config]";
const ok = () => scriptFile(["fine"]);

async function promptOf(args: string[], stdin?: string | Buffer): Promise<unknown> {
  const run = await runCli([...args, "--fake", ok(), "--json"], { stdin });
  expect(lint(run.stdout), run.stderr).toEqual([]);
  expect(run.code).toBe(0);
  return ofType(run.events, "turn_start")[0]?.prompt;
}

describe("the prompt as an argument", () => {
  it.each([
    [["-p", "hi"], "hi"],
    [["hi", "-p"], "hi"],
    [["hi"], "hi"],
    [["--print", "hi"], "hi"],
    [["-p", "--coalesce-ms", "5", "hi"], "hi"],
    [["--allowed-tools", "Edit", "fix the bug"], "fix the bug"],
    [["--allowedTools", "Edit,Read", "-p", "fix the bug"], "fix the bug"],
    [["--max-steps=2", "hi"], "hi"],
    [["--max-steps", "2", "hi"], "hi"],
    [["--max-turns=2", "-p", "hi"], "hi"],
    [["--prompt", "hi"], "hi"],
    [["--prompt=hi"], "hi"],
    [["--print=--- hi"], "--- hi"],
    [["-p=hi"], "hi"],
    [["sessions", "-p"], "sessions"],
    [["-p", "stop"], "stop"],
    [["--output-format", "text", "-p", "hi"], "hi"],
    [["--permission-mode", "acceptEdits", "hi"], "hi"],
    [["-p", "hi", ""], "hi"],
    [["", "-p", "hi"], "hi"],
    [["--verbose", "--include-partial-messages", "-p", "hi"], "hi"],
  ])("%j reaches the model as %j", async (args, prompt) => {
    expect(await promptOf(args)).toBe(prompt);
  });

  it.each(["--- title", "- [ ] task", "--help me", "---", "-5", "-p", "--"])(
    "IN-02: a prompt that begins with dashes is no flag: %s",
    async (prompt) => {
      if (prompt !== "--" && prompt !== "-p") expect(await promptOf(["-p", prompt])).toBe(prompt);
      const run = await runCli(["--fake", ok(), "--json", "--", prompt]);
      expect(ofType(run.events, "turn_start")[0]?.prompt).toBe(prompt);
    },
  );

  it.each(["  two leading spaces and a newline\n", "ümläut 😀 \u2028"])(
    "IN-04: %j stays unchanged",
    async (prompt) => {
      expect(await promptOf(["-p", prompt])).toBe(prompt);
    },
  );
});

describe("the prompt from stdin", () => {
  it("is read to the end, and stays unchanged", async () => {
    expect(await promptOf(["-p"], "  from a pipe\n")).toBe("  from a pipe\n");
    expect(await promptOf([], "from a pipe")).toBe("from a pipe");
    expect(await promptOf(["-"], "from a pipe")).toBe("from a pipe");
  });

  it("stands behind a given prompt, with a blank line between", async () => {
    expect(await promptOf(["-p", "explain"], "line 1\nline 2\n")).toBe("explain\n\nline 1\nline 2\n");
  });

  it("is a file as well", async () => {
    const file = join(temporaryFolder(), "prompt.md");
    writeFileSync(file, "--- front matter\n");
    const run = await runShell(
      `$LINEFEED -p --fake ${ok()} --json < ${file} | jq -r 'select(.type=="turn_start").prompt'`,
    );
    expect(run.stdout.toString()).toBe("--- front matter\n\n");
  });

  it.each([300_000, 5_000_000])(
    "IN-03: %d bytes reach the provider whole, however they are written",
    async (size) => {
      const server = await provider(answer().text("ok").done());
      const cwd = temporaryFolder();
      const text = "0123456789".repeat(size / 10);
      writeFileSync(join(cwd, "prompt"), text);
      const parts = "head -c 100001 prompt; sleep 0.1; tail -c +100002 prompt";
      const run = await runShell(`(${parts}) | $LINEFEED`, { cwd, env: providerEnv(server) });
      expect(run.stdout.toString()).toBe("ok\n");
      expect(server.requests[0]?.text.includes(`"${text}"`)).toBe(true);
    },
  );

  it("IN-05: is waited for when there is no other prompt", async () => {
    const run = await runShell(
      `(sleep 3.5; echo hello) | $LINEFEED --fake ${ok()} --json | jq -r 'select(.type=="turn_start").prompt'`,
    );
    expect(run.stdout.toString()).toBe("hello\n\n");
  });

  it("IN-01: an open pipe or socket that nobody writes to does not keep a given prompt waiting", async () => {
    const waiting = await runShell(
      `(sleep 30 & echo $! >&3; wait) 3>pid | { $LINEFEED -p hi --fake ${ok()} --json; echo "code $?" >&2; kill $(cat pid); }`,
      { cwd: temporaryFolder() },
    );
    expect(waiting.stderr).toBe("code 0\n");
    expect(waiting.stdout.toString()).toContain('"code":"stdin_ignored"');
    expect(lint(waiting.stdout)).toEqual([]);
    // As Node's spawn has it by default: its end of stdin stays open.
    const child = spawn(process.execPath, [CLI, "-p", "hi", "--fake", ok()], { env: cleanEnv() });
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
  });

  it("is never read with --no-stdin", async () => {
    const run = await runCli(["-p", "hi", "--no-stdin", "--fake", ok(), "--json"], { stdin: "not this" });
    expect(ofType(run.events, "turn_start")[0]?.prompt).toBe("hi");
    expect(ofType(run.events, "notice")).toEqual([]);
  });

  it("says so when it is no UTF-8, and goes on", async () => {
    const run = await runCli(["--fake", ok(), "--json"], { stdin: Buffer.from([0x61, 0xff, 0x62]) });
    expect(ofType(run.events, "turn_start")[0]?.prompt).toBe("a\uFFFDb");
    expect(ofType(run.events, "notice")[0]?.code).toBe("stdin_not_utf8");
  });

  it("can be a signal's victim while it is waited for", async () => {
    const run = await runShell(
      `sleep 20 | { $LINEFEED --json --fake ${ok()} & sleep 1; kill -TERM $!; wait $!; echo "code $?" >&2; } ; true`,
      { during: () => undefined },
    );
    expect(run.stderr).toContain("code 143");
    expect(JSON.parse(run.stdout.toString())).toMatchObject({
      type: "result",
      seq: 0,
      status: "cancelled",
      exit_code: 143,
    });
  });
});

describe("what is no prompt", () => {
  it.each([
    [["-p", ""], "blank"],
    [["-p", "   "], "blank"],
    [[""], "blank"],
    [["a", "b"], "quotes"],
    [["-p", "a", "b"], "two prompts"],
    [["-p", "a", "-p", "b"], "two prompts"],
    [["-p", "a", "--prompt", "b"], "two prompts"],
    [["-p", "hi", "--heartbeat", "1000h"], "24 days"],
    [["-p", "hi", "--coalesce-ms", "3000000000"], "60000"],
    [["-p", "hi", "--allowed-tools", "Bash()"], "Bash()"],
    [["-p", "hi", "--disallowed-tools", "bash"], "Bash?"],
    [["sesions"], "sessions"],
    [["atach"], "attach"],
    [["--output-format", "jsnl", "-p", "hi"], "jsonl"],
    [["-p", "hi", "--store", "x"], "--store is no address"],
    [["-p", "hi", "--max-stepps", "3"], "--max-steps"],
    [["-p", "hi", "--max-steps", "many"], "--max-steps"],
    [["-p", "hi", "--timeout", "soon"], "--timeout"],
    [["-p", "hi", "--tools", "Fly"], "Fly"],
    [["-p", "hi", "--allowed-tools", "Bash(ls"], "Bash(ls"],
    [["-p", "hi", "--cwd", "/no/such/folder"], "/no/such/folder"],
    [["-p", "hi", "--fake", "/no/such/script.json"], "/no/such/script.json"],
  ])("%j is a usage error: exit 2, one line on stderr, no model asked", async (args, named) => {
    const run = await runCli([...args, ...(args.includes("--fake") ? [] : ["--fake", ok()])]);
    expect(run.code).toBe(2);
    expect(run.stdout.toString()).toBe("");
    expect(run.stderr).toContain(named);
    expect(run.stderr.split("\n")).toHaveLength(2);
  });

  it("PU-05: is a lone result under jsonl, also when the command line cannot be parsed", async () => {
    for (const args of [
      ["--frobnicate", "--json"],
      ["-p", " ", "--output-format=jsonl"],
      ["--outputFormat", "jsonl", "sesions"],
    ]) {
      const run = await runCli(args);
      expect(lint(run.stdout)).toEqual([]);
      expect(run.code).toBe(2);
      expect(resultOf(run)).toMatchObject({
        seq: 0,
        session_id: null,
        status: "error",
        exit_code: 2,
        error: { code: "usage" },
      });
      expect(run.stderr).toMatch(/^linefeed: .*\n$/);
    }
  });

  it("TE-03: a missing key is a configuration error before anything is asked", async () => {
    const run = await runCli(["-p", "hi", "--json"]);
    expect(run.code).toBe(2);
    expect(resultOf(run)).toMatchObject({ session_id: null, error: { code: "config" } });
    expect(run.stderr).toContain("ANTHROPIC_API_KEY");
  });

  it("PU-05: help and version are text, on stdout, and nothing else", async () => {
    const help = await runCli(["--json", "--help"]);
    expect(help.code).toBe(0);
    expect(help.stdout.toString()).toContain("--output-format");
    const version = await runCli(["--version", "--json"]);
    expect(version.stdout.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(help.stderr + version.stderr).toBe("");
  });

  it("PI-09: the version on a full disk is a failure without a stack trace", async () => {
    const run = await runShell("$LINEFEED --version > /dev/full; echo $?");
    expect([run.stdout.toString(), run.stderr]).toEqual(["1\n", ""]);
  });

  it("PU-02: is a file that cannot be used: a lone result that names it, and what is wrong", async () => {
    const folder = temporaryFolder();
    const utf16 = Buffer.from("\uFEFFYou are careful.\n", "utf16le");
    const script = (text: string | Buffer, named: RegExp) => ({ flag: "--fake", text, named });
    const system = (text: string | Buffer | undefined, named: RegExp) =>
      ({ flag: "--system-prompt-file", text, named }) as const;
    for (const [n, { flag, text, named }] of [
      script('{"answers": [', /not JSON|Unexpected end/),
      script('{"answers": [{"content": [{"type": "txt"}]}]}', /answers\.0/),
      script('{"answers": [], "delay": 3}', /delay/),
      script(utf16, /not UTF-8/),
      script("", /JSON/),
      system(utf16, /not UTF-8/),
      system(undefined, /ENOENT/),
    ].entries()) {
      const path = join(folder, `file-${n}`);
      if (text !== undefined) writeFileSync(path, text);
      const run = await runCli(["-p", "hi", "--json", "--fake", ok(), flag, path]);
      expect([lint(run.stdout), run.code]).toEqual([[], 2]);
      expect(resultOf(run).error).toMatchObject({ code: "config", message: expect.stringMatching(named) });
      expect(resultOf(run).error?.message).toContain(path);
    }
  });

  it("TE-03: is a working folder that is gone: an error that says so, unless another is named", async () => {
    const cwd = temporaryFolder();
    const script = ok();
    const run = await runShell(
      `mkdir gone && cd gone && rmdir ../gone && $LINEFEED -p hi --json --fake ${script}; $LINEFEED -p hi -C ${cwd} --fake ${script}; $LINEFEED attach`,
      { cwd },
    );
    expect([run.code, run.stdout.toString().split("\n").at(-2)]).toEqual([2, "fine"]);
    expect(run.stdout.toString()).toContain('"code":"config","message":"the working folder is gone');
    expect(run.stderr).toBe(`linefeed: ${GONE}\nlinefeed: ${GONE}\n`);
  });

  it("PU-02: is no byte order mark before the text of a file", async () => {
    const folder = temporaryFolder();
    const [script, system] = [join(folder, "script"), join(folder, "system")];
    writeFileSync(script, '\uFEFF{"answers": ["fine"]}');
    writeFileSync(system, "\uFEFFYou are careful.");
    const server = await provider(answer().text("ok").done());
    const runs = [
      await runCli(["-p", "hi", "--fake", script]),
      await runCli(["-p", "hi", "--system-prompt-file", system], { env: providerEnv(server) }),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(server.requests[0]?.text).toMatch(/"You are careful\./);
  });
});
