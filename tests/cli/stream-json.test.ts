import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/run/version.ts";
import {
  runCli,
  runShell,
  scriptFile,
  temporaryFolder,
  type CliOptions,
  type CliRun,
} from "../support/cli.ts";
import { provider, providerEnv } from "../support/provider.ts";
import { bash, newState, onlyId } from "../support/sessions.ts";
import { clientLines, textOf, type ClientLine } from "../support/stream-json.ts";

const FORMAT = ["--output-format", "stream-json", "--verbose"];
const TOOLS = [
  { content: [{ type: "text" as const, text: "I look. " }, ...bash("echo hi").content] },
  "That is all.",
];

interface ClientRun extends CliRun {
  lines: ClientLine[];
  last: ClientLine | undefined;
}

async function client(args: readonly string[], options: CliOptions = {}): Promise<ClientRun> {
  const run = await runCli([...FORMAT, ...args], options);
  const lines = clientLines(run.stdout);
  return { ...run, lines, last: lines.at(-1) };
}

/** Nothing but one `result`, so that no caller waits for more. */
function expectLoneResult(run: ClientRun, words: string): void {
  expect(run.lines).toHaveLength(1);
  expect(run.last).toMatchObject({ type: "result", subtype: "error_during_execution", is_error: true });
  expect(run.last?.errors?.[0]).toContain(words);
  expect([run.code, run.signal]).toEqual([1, null]);
}

describe("a run in stream-json", () => {
  it("feeds the scripts that were written for it", async () => {
    const script = scriptFile(TOOLS);
    const pick = `select(.type=="assistant").message.content[]?|select(.type=="text").text`;
    const run = await runShell(
      `set -o pipefail; $LINEFEED -p hi --fake ${script} ${FORMAT.join(" ")} --allowedTools "Bash(echo:*)" | tee all | jq -r '${pick}' && jq -r 'select(.type=="result").result' < all`,
      { cwd: temporaryFolder() },
    );
    expect([run.code, run.stdout.toString(), run.stderr]).toEqual([
      0,
      "I look. \nThat is all.\nThat is all.\n",
      "",
    ]);
  });

  it("takes the flags of the Agent SDKs, and tells of those that it has not", async () => {
    const run = await client([
      "--fallback-model=other",
      "--max-turns=5",
      "--max-budget-usd",
      "5",
      "--effort",
      "high",
      "--thinking=disabled",
      "--permission-mode",
      "acceptEdits",
      "--setting-sources=",
      "--tools=default",
      "--strict-mcp-config",
      "--settings",
      "{}",
      "--include-hook-events",
      "--no-session-persistence",
      "",
      "--disallowedTools=WebSearch",
      "--allowedTools",
      "Read",
      "--agents",
      "{}",
      "--model",
      "some-model",
      "--never-heard-of",
      "it",
      "-p",
      "hi",
      "--fake",
      scriptFile(["Hello."]),
    ]);
    expect(run.code).toBe(0);
    expect(run.lines[0]).toMatchObject({ model: "some-model", permissionMode: "acceptEdits" });
    expect(run.last).toMatchObject({ subtype: "success", is_error: false, result: "Hello." });
    const told = run.stderr.trimEnd().split("\n");
    expect(told.map((line) => /--[\w-]+/.exec(line)?.[0])).toEqual([
      "--fallback-model",
      "--agents",
      "--never-heard-of",
    ]);
  });

  it("has a version and a help like every other run", async () => {
    expect((await runCli([...FORMAT, "-v"])).stdout.toString()).toBe(`${VERSION}\n`);
    const help = await runCli([...FORMAT, "--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout.toString()).toContain("--permission-prompt-tool");
  });

  it("EX-01: a model call that failed is an answer that is an error, and exit code 1", async () => {
    const body = { type: "error", error: { type: "invalid_request_error", message: "bad field" } };
    const server = await provider({ status: 400, body });
    const run = await client(["-p", "x"], { env: providerEnv(server) });
    expect(run.last).toMatchObject({ subtype: "success", is_error: true, api_error_status: 400 });
    expect(run.last?.result).toContain("bad field");
    expect(textOf(run.lines)).toBe(run.last?.result);
    expect([run.code, run.stderr]).toEqual([1, ""]);
  });

  it("EX-02: a limit has its subtype, its error and exit code 1", async () => {
    const steps = await client([
      "-p",
      "x",
      "--fake",
      scriptFile([bash("echo 1"), bash("echo 2")]),
      "--max-turns",
      "1",
      "--permission-mode",
      "bypassPermissions",
    ]);
    expect(steps.last).toMatchObject({ subtype: "error_max_turns", is_error: true });
    expect(steps.last?.errors).toHaveLength(1);
    expect(steps.code).toBe(1);
    const dear = { ...bash("echo 1"), usage: { input_tokens: 100_000, output_tokens: 10_000 } };
    const money = ["-p", "x", "--fake", scriptFile([dear, "no"]), "--max-budget-usd", "2.25"];
    const run = await client(money);
    expect(run.last).toMatchObject({ subtype: "error_max_budget_usd", num_turns: 1 });
    expect(run.last?.errors).toEqual([
      "the run used up to 2.2500 $ of a budget of 2.25 $ (--max-budget-usd)",
    ]);
    expect(
      (await client(["-p", "x", "--fake", scriptFile([dear, "yes"]), "--max-budget-usd", "2.26"])).code,
    ).toBe(0);
  });

  it("several turns: the exit code is that of the last, the session's log keeps linefeed's own", async () => {
    const state = newState();
    const fault = { code: "invalid_request" as const, message: "no", http_status: 400, retryable: false };
    const stdin = '{"type":"user","text":"a"}\n{"type":"user","text":"b"}\n';
    const args = ["--input-format", "jsonl", "--fake", scriptFile([{ fault }, "Better."])];
    const run = await client(args, { stdin, env: state.env });
    const results = run.lines.filter(({ type }) => type === "result");
    expect(results.map(({ is_error }) => is_error)).toEqual([true, false]);
    expect(run.code).toBe(0);
    expect(state.lines(onlyId(state)).at(-1)).toMatchObject({ type: "result", exit_code: 1 });
  });

  it("partial messages are those of the message, arguments of calls included", async () => {
    const run = await client([
      "-p",
      "x",
      "--fake",
      scriptFile(TOOLS),
      "--include-partial-messages",
      "--allowedTools=Bash",
    ]);
    const deltas = run.lines.flatMap(({ event, type }) =>
      type === "stream_event" && event.delta ? [event.delta] : [],
    );
    expect(deltas.map(({ text = "" }) => text).join("")).toBe(textOf(run.lines));
    expect(deltas.map(({ partial_json = "" }) => partial_json).join("")).toBe('{"command":"echo hi"}');
  });

  it("SG-01: a signal ends it with a result, and the process by that signal", async () => {
    const args = ["-p", "x", "--fake", scriptFile([bash("sleep 60")]), "--allowedTools=Bash"];
    const run = await client(args, {
      during: (child) => child.stdout?.once("data", () => child.kill("SIGTERM")),
    });
    expect(run.signal).toBe("SIGTERM");
    expect(run.last).toMatchObject({ type: "result", subtype: "error_during_execution", is_error: true });
  });

  it("CO-01: no line is too long for the clients that have a limit, and the history has all", async () => {
    const state = newState();
    const run = await client(["-p", "x", "--fake", scriptFile(["😀".repeat(400_000)])], { env: state.env });
    for (const line of run.stdout.toString().split("\n"))
      expect(Buffer.byteLength(line)).toBeLessThan(1_000_000);
    expect(/linefeed cut \d+ of 800000 characters here/.test(run.last?.result ?? "")).toBe(true);
    const kept = state.lines(onlyId(state)).at(-1);
    expect(kept?.type === "result" && kept.text === "😀".repeat(400_000)).toBe(true);
  });

  it("leaves the folders of other products alone", async () => {
    const home = temporaryFolder();
    const config = join(home, "config");
    mkdirSync(config);
    const state = join(home, "state");
    const env = { HOME: home, CLAUDE_CONFIG_DIR: config, LINEFEED_STATE_DIR: state };
    expect((await client(["-p", "x", "--fake", scriptFile(["Hello."])], { env, cwd: home })).code).toBe(0);
    expect(readdirSync(config)).toEqual([]);
    expect(existsSync(join(home, ".claude"))).toBe(false);
    expect(readdirSync(home).toSorted()).toEqual(["config", "state"]);
  });
});

describe("a run that does not begin", () => {
  it.each([
    [["-p", "x", "--max-turns", "many"], "max-turns"],
    [["-p", "x"], "there is no key"],
    [["-p", "x", "--fake", "none.json"], "none.json"],
    [["-p", ""], "the prompt is blank"],
    [["-p", "x", "--json-schema={}"], "--json-schema"],
    [["-p", "x", "--mcp-config", '{"mcpServers":{"a":{}}}'], "--mcp-config names a"],
    [["-p", "x", "--settings", '{"sandbox":{"enabled":true}}'], "sandbox"],
  ])("%j is one result, and exit code 1", async (args, words) => {
    expectLoneResult(await client(args), words);
  });

  it("a session that is not there is one too", async () => {
    const args = ["-p", "x", "--fake", scriptFile(["no"]), "--resume=00000000-0000-4000-8000-000000000000"];
    expectLoneResult(await client(args, { env: newState().env }), "00000000-0000-4000-8000-000000000000");
  });
});

describe("the commands that show sessions and streams", () => {
  it("attach and view give the very lines of the run", async () => {
    const state = newState();
    const args = [
      "-p",
      "x",
      "--fake",
      scriptFile(TOOLS),
      "--allowedTools=Bash",
      "--include-partial-messages",
    ];
    const run = await client(args, { env: state.env });
    const show = async (...words: string[]) => {
      const shown = await runCli(
        [...words, "--output-format", "stream-json", "--include-partial-messages"],
        state,
      );
      return [shown.code, shown.stdout.toString()];
    };
    const id = onlyId(state);
    expect(await show("attach", id)).toEqual([0, run.stdout.toString()]);
    expect(await show("view", state.log(id))).toEqual([0, run.stdout.toString()]);
  });
});

it("-v prints a line that begins with the version", async () => {
  const run = await runCli(["-v"]);
  expect(run.stdout.toString()).toMatch(/^\d+\.\d+\.\d+/);
  expect(run.stdout.toString()).toBe(`${VERSION}\n`);
});
