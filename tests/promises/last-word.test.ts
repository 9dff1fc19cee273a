import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { ofType, resultOf, runCli, scriptFile, type CliRun } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { ask, KEY, provider } from "../support/provider.ts";
import { bash } from "../support/sessions.ts";

const error = (type: string, message = "no") => ({ type: "error", error: { type, message } });

/** One last word, and it tells the truth: in the stream, to the shell, and nothing else on stderr. */
function expectLastWord(
  run: CliRun,
  expected: { status: string; exit_code: number; code: string | null },
): void {
  expect(lint(run.stdout), run.stdout.toString()).toEqual([]);
  const result = resultOf(run);
  expect({ status: result.status, exit_code: result.exit_code, code: result.error?.code ?? null }).toEqual(
    expected,
  );
  if (run.signal === null) expect(run.code).toBe(result.exit_code);
  expect(run.stdout.toString() + run.stderr).not.toContain(KEY);
}

describe("the status and exit code table, every row", () => {
  it("ok 0, with the same verdict in every format", async () => {
    const script = scriptFile(["the answer"]);
    const run = await runCli(["-p", "x", "--fake", script, "--json"]);
    expectLastWord(run, { status: "ok", exit_code: 0, code: null });
    expect(run.stderr).toBe("");
    const text = await runCli(["-p", "x", "--fake", script]);
    expect([text.code, text.stdout.toString(), text.stderr]).toEqual([0, "the answer\n", ""]);
    const json = await runCli(["-p", "x", "--fake", script, "--output-format", "json"]);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({
      type: "result",
      text: "the answer",
      status: "ok",
    });
  });

  it.each([
    [400, error("invalid_request_error", "bad field"), "invalid_request", 1],
    [
      400,
      error("invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"),
      "context_overflow",
      1,
    ],
    [401, error("authentication_error"), "authentication", 1],
    [402, error("billing_error"), "billing", 1],
    [403, "<html><body><h1>Forbidden</h1></body></html>", "permission", 1],
    [404, error("not_found_error", "model: nope"), "not_found", 1],
    [429, error("rate_limit_error"), "rate_limit", 75],
    [500, error("api_error"), "server_error", 75],
    [529, error("overloaded_error"), "overloaded", 75],
  ])(
    "EX-01, EX-06, EX-09, TE-04: HTTP %d is its own reason, in every format",
    async (status, body, code, exitCode) => {
      const server = await provider({ status, body, headers: { "retry-after": "0" } });
      const run = await ask(server, ["--max-retries", "1"]);
      expectLastWord(run, { status: "error", exit_code: exitCode, code });
      expect(resultOf(run).error).toMatchObject({
        http_status: status,
        retryable: exitCode === 75,
        provider: "anthropic",
      });
      expect(resultOf(run).error?.message).not.toMatch(/JSON|<html/);
      expect(ofType(run.events, "retry")).toHaveLength(exitCode === 75 ? 1 : 0);
      const text = await runCli(["-p", "x", "--max-retries", "1"], {
        env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: KEY },
      });
      expect(text.code).toBe(exitCode);
      expect(text.stdout.toString()).toBe("");
      expect(text.stderr).toMatch(new RegExp(`^linefeed: .*\\[${code}\\]\\n$`, "s"));
    },
  );

  it("EX-01: an error inside HTTP 200 is an error", async () => {
    const server = await provider(answer().error("overloaded_error", "busy"));
    expectLastWord(await ask(server, ["--max-retries", "0"]), {
      status: "error",
      exit_code: 75,
      code: "overloaded",
    });
  });

  it("an error at once where the provider asks for a longer wait than anybody should", async () => {
    const server = await provider({
      status: 429,
      body: error("rate_limit_error"),
      headers: { "retry-after": "3600" },
    });
    const run = await ask(server);
    expectLastWord(run, { status: "error", exit_code: 75, code: "rate_limit" });
    expect(server.requests).toHaveLength(1);
    expect(resultOf(run).error?.message).toContain("3600 s");
  });

  it.each([
    ["max_steps", ["--max-steps", "1"], [bash("true"), "never"]],
    [
      "max_budget",
      ["--max-budget-tokens", "10"],
      [{ ...bash("true"), usage: { output_tokens: 11 } }, "never"],
    ],
    ["max_tokens", [], [{ content: [{ type: "text", text: "half an ans" }], stop_reason: "max_tokens" }]],
    ["timeout", ["--timeout", "400ms"], [bash("sleep 50"), "never"]],
    ["timeout", ["--timeout", "400ms"], [{ stall: true }]],
  ])("limit 3: %s", async (code, args, answers) => {
    const run = await runCli([
      "-p",
      "x",
      "--json",
      "--allowed-tools",
      "Bash",
      ...args,
      "--fake",
      scriptFile(answers as never),
    ]);
    expectLastWord(run, { status: "limit", exit_code: 3, code });
    expect(ofType(run.events, "turn_end")[0]?.status).toBe("limit");
    expect(resultOf(run).text).toBe(code === "max_tokens" ? "half an ans" : null);
  });

  it("EX-04: error 4 where a denial must not pass, and 0 where it may; each is listed either way", async () => {
    const calls = [
      { name: "Bash", input: { command: "rm -rf /" } },
      { name: "Write", input: { file_path: "made", content: "x" } },
      { name: "Read", input: { file_path: "/etc/passwd" } },
    ].map((call) => ({ type: "tool_use" as const, ...call }));
    const script = scriptFile([{ content: calls }, "I could not."]);
    const strict = await runCli(["-p", "x", "--json", "--fail-on-denied", "--fake", script]);
    expectLastWord(strict, { status: "error", exit_code: 4, code: "denied" });
    const mild = await runCli(["-p", "x", "--json", "--fake", script]);
    expectLastWord(mild, { status: "ok", exit_code: 0, code: null });
    for (const run of [strict, mild]) {
      const denials = resultOf(run).permission_denials;
      expect(denials).toMatchObject(calls.map(({ name, input }) => ({ name, input })));
      expect(denials.map(({ reason }) => /--allowed-tools|--add-dir/.test(reason))).toEqual([
        true,
        true,
        true,
      ]);
      const notices = ofType(run.events, "notice");
      expect(notices.map(({ code }) => code)).toEqual(calls.map(() => "permission_denied"));
      expect(ofType(run.events, "tool_start")).toEqual([]);
      expect(ofType(run.events, "tool_end").map(({ status }) => status)).toEqual(calls.map(() => "denied"));
    }
  });

  it.each(["refusal", "empty_answer", "context_overflow"] as const)("EX-05: error 1: %s", async (code) => {
    const answers = {
      refusal: { content: [{ type: "text", text: "no" }], stop_reason: "refusal" },
      empty_answer: { content: [] },
      context_overflow: {
        content: [{ type: "text", text: "no" }],
        stop_reason: "model_context_window_exceeded",
      },
    };
    const run = await runCli(["-p", "x", "--json", "--fake", scriptFile([answers[code]] as never)]);
    expectLastWord(run, { status: "error", exit_code: 1, code });
  });

  it("75: the network, after our own retries", async () => {
    const server = await provider("");
    await server.close();
    const run = await ask(server, ["--max-retries", "0"]);
    expectLastWord(run, { status: "error", exit_code: 75, code: "network" });
    expect(resultOf(run).error?.message).toContain("127.0.0.1");
  });

  it("TE-08: 75 for a model that falls silent, with what it said marked as void", async () => {
    const server = await provider({ steps: [answer().text("half").unfinished(), { stall: true }] });
    const run = await ask(server, ["--idle-timeout", "300ms", "--max-retries", "0"]);
    expectLastWord(run, { status: "error", exit_code: 75, code: "idle_timeout" });
    expect(ofType(run.events, "message")).toEqual([]);
    expect(ofType(run.events, "step_end")).toMatchObject([{ status: "error" }]);
  });
});

describe("one last word, whatever happened", () => {
  it("EX-07: two overloaded answers and a good one are two retries and a success", async () => {
    const busy = { status: 529, body: error("overloaded_error"), headers: { "retry-after": "0" } };
    const run = await ask(await provider(busy, busy, answer().text("good").done()));
    expectLastWord(run, { status: "ok", exit_code: 0, code: null });
    expect(ofType(run.events, "retry").map((event) => [event.attempt, event.max_attempts])).toEqual([
      [1, 7],
      [2, 7],
    ]);
    expect(ofType(run.events, "step_start").map((event) => event.attempt)).toEqual([1, 2, 3]);
  });

  it("TE-02: the process ends although the provider keeps its connection open", async () => {
    const server = await provider({ steps: [answer().text("done").done(), { stall: true }] });
    const run = await ask(server);
    expectLastWord(run, { status: "ok", exit_code: 0, code: null });
  });

  it("EO-02: the final text is the whole of the last message", async () => {
    const script = scriptFile([
      {
        content: [
          { type: "text", text: "one " },
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "two " },
          { type: "text", text: "three" },
        ],
      },
    ]);
    const run = await runCli(["-p", "x", "--json", "--fake", script]);
    expect(resultOf(run).text).toBe("one two three");
  });

  it("TE-06: what ends after the last turn, also one that failed, adds no second word", async () => {
    const late = bash("(sleep 0.1; echo late) & echo up");
    const failing = { fault: { code: "server_error" as const, message: "broke" } };
    const run = (last: typeof failing | string) =>
      runCli(["-p", "x", "--json", "--allowed-tools", "Bash", "--fake", scriptFile([late, last])]);
    const [good, bad] = await Promise.all([run("started"), run(failing)]);
    expectLastWord(good, { status: "ok", exit_code: 0, code: null });
    expectLastWord(bad, { status: "error", exit_code: 1, code: "server_error" });
  });

  it("TE-01: sixty runs, six at a time, all end with text and usage", { timeout: 120_000 }, async () => {
    const script = scriptFile([bash("echo a"), bash("echo b"), "all done"]);
    const one = async () => {
      const run = await runCli(["-p", "x", "--json", "--allowed-tools", "Bash", "--fake", script]);
      expectLastWord(run, { status: "ok", exit_code: 0, code: null });
      expect(resultOf(run)).toMatchObject({ text: "all done", turns: 1, steps: 3 });
      expect(resultOf(run).usage?.output_tokens).toBeGreaterThan(0);
    };
    for (let batch = 0; batch < 10; batch += 1) await Promise.all(Array.from({ length: 6 }, one));
  });

  it("a bug of ours is an internal error with a last word, not a stack trace", async () => {
    const bug = "data:text/javascript,setTimeout(() => { throw new Error('planted') }, 400)";
    const run = await runCli(["-p", "x", "--json", "--fake", scriptFile([{ stall: true }])], {
      env: { NODE_OPTIONS: `--import=${bug.replaceAll(" ", "%20")}` },
    });
    expectLastWord(run, { status: "error", exit_code: 1, code: "internal" });
    expect(resultOf(run).error?.message).toContain("planted");
  });

  it("TE-05: every result has the same keys", async () => {
    const runs = [
      await runCli(["-p", "x", "--json", "--fake", scriptFile(["ok"])]),
      await runCli(["--json"]),
      await runCli(["-p", "x", "--json", "--fake", scriptFile([{ fault: { code: "overloaded" } }])]),
      await runCli(["-p", "x", "--json", "--fake", scriptFile([{ stall: true }])], {
        during: (child) => child.stdout?.once("data", () => child.kill("SIGINT")),
      }),
    ];
    const [keys, ...others] = runs.map((run) => Object.keys(resultOf(run)));
    expect(others).toEqual([keys, keys, keys]);
    expect(runs.map((run) => resultOf(run).text)).toEqual(["ok", null, null, null]);
  });
});

describe("usage", () => {
  it("US-01, US-02, US-03: the obvious sum over the lines is the total", async () => {
    const server = await provider(
      answer({ inputUsage: { input_tokens: 100 } })
        .thinking("hm")
        .text("a")
        .toolUse("Bash", { command: "true" })
        .toolUse("Bash", { command: "true" })
        .done({ usage: { output_tokens: 7 } }),
      answer({ inputUsage: { input_tokens: 20, cache_read_input_tokens: 90 } })
        .text("b")
        .done({ usage: { output_tokens: 3 } }),
    );
    const run = await ask(server, ["--allowed-tools", "Bash"]);
    const usages = ofType(run.events, "message").map((event) => event.usage);
    expect(usages).toMatchObject([
      { input_tokens: 100, output_tokens: 7 },
      { input_tokens: 20, output_tokens: 3, cache_read_input_tokens: 90 },
    ]);
    const total = {
      input_tokens: 120,
      output_tokens: 10,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 0,
    };
    expect(resultOf(run).usage).toEqual(total);
    expect(resultOf(run).usage_by_model).toEqual({ "claude-test": total });
    expect(ofType(run.events, "turn_end")[0]?.usage).toEqual(total);
  });
});
