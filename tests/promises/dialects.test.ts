import { describe, expect, it } from "vitest";
import { answer, chatAnswer, type FakeAnswer, type FakeProvider } from "../../src/testing/index.ts";
import { joined, ofType, resultOf, runCli, type CliOptions, type CliRun } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { KEY, openaiEnv, provider, providerEnv } from "../support/provider.ts";

// What holds of a run holds whichever dialect its provider speaks.

async function ask(
  answers: readonly (FakeAnswer | string)[],
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<CliRun & { server: FakeProvider }> {
  const server = await provider(...answers);
  const run = await runCli(["-p", "x", "--json", ...args], { ...options, env: openaiEnv(server) });
  expect(lint(run.stdout), run.stdout.toString()).toEqual([]);
  expect(run.stdout.toString() + run.stderr).not.toContain(KEY);
  if (run.signal === null) expect(run.code).toBe(resultOf(run).exit_code);
  return { ...run, server };
}

const busy = { status: 503, body: { error: { message: "busy" } }, headers: { "retry-after": "0" } };

describe("one scenario in both dialects", () => {
  const calls = [{ command: "echo one" }, { command: "echo two" }];

  async function play(answers: readonly string[], envFor: (server: FakeProvider) => NodeJS.ProcessEnv) {
    const server = await provider(...answers);
    const args = ["-p", "x", "--json", "--allowed-tools", "Bash", "--include-tool-input", "--deterministic"];
    const run = await runCli([...args, "--coalesce-ms", "0"], { env: envFor(server) });
    expect(run.code, run.stderr).toBe(0);
    return run.events.map((event) => {
      const text = JSON.stringify(event, (key, value: unknown) =>
        /^(model|usage|usage_by_model|provider|ttft_ms|duration_ms|api_duration_ms)$/.test(key) ? key : value,
      );
      return JSON.parse(text.replaceAll(/(msg|toolu|chatcmpl|call)[-\w]*_?\d\b/g, "id")) as unknown;
    });
  }

  it("thinking, text, two calls, the answer: the same stream but for ids, times, model and usage", async () => {
    const deltaSize = 5;
    const anthropic = [
      answer({ deltaSize })
        .thinking("Two things.", "")
        .text("I look ≤ 🦊")
        .toolUse("Bash", calls[0] ?? {})
        .toolUse("Bash", calls[1] ?? {})
        .done(),
      answer({ deltaSize }).text("one and two").done(),
    ];
    const openai = [
      chatAnswer({ deltaSize })
        .thinking("Two things.")
        .text("I look ≤ 🦊")
        .toolCall("Bash", calls[0] ?? {})
        .toolCall("Bash", calls[1] ?? {})
        .done(),
      chatAnswer({ deltaSize }).text("one and two").done(),
    ];
    const streams = [await play(anthropic, providerEnv), await play(openai, openaiEnv)];
    expect(streams[1]).toEqual(streams[0]);
    expect(streams[0]?.length).toBeGreaterThan(30);
  });
});

describe("the openai dialect keeps the promises", () => {
  it("EX-07: two refusals and a good answer are two retries and a success", async () => {
    const run = await ask([busy, busy, chatAnswer().text("good").done()]);
    expect(resultOf(run)).toMatchObject({ status: "ok", text: "good", exit_code: 0 });
    expect(ofType(run.events, "retry").map(({ attempt, error }) => [attempt, error.code])).toEqual([
      [1, "overloaded"],
      [2, "overloaded"],
    ]);
    expect(run.stderr).toBe("");
  });

  it.each<[number, string, number]>([
    [401, "authentication", 1],
    [402, "billing", 1],
    [404, "not_found", 1],
    [429, "rate_limit", 75],
    [500, "server_error", 75],
  ])("TE-04, EX-01: HTTP %d for ever ends as %s", async (status, code, exitCode) => {
    const body = { error: { message: "no" } };
    const run = await ask([{ status, body, headers: { "retry-after": "0" } }], ["--max-retries", "1"]);
    expect(resultOf(run)).toMatchObject({
      exit_code: exitCode,
      error: { code, http_status: status, provider: "openai" },
    });
    expect(run.server.requests).toHaveLength(exitCode === 75 ? 2 : 1);
  });

  it("PR-04, PR-05: an error in the middle voids what was said, and no call runs", async () => {
    const half = chatAnswer()
      .text("half")
      .calls({ index: 0, id: "a", function: { name: "Bash", arguments: '{"command":"echo no"}' } });
    const run = await ask(
      [half.error({ message: "broke", code: 502 }), chatAnswer().text("whole").done()],
      ["--allowed-tools", "Bash"],
    );
    expect(ofType(run.events, "retry")).toMatchObject([
      { discards_partial: true, error: { code: "server_error" } },
    ]);
    expect(ofType(run.events, "tool_start")).toEqual([]);
    expect(resultOf(run).text).toBe("whole");
  });

  it("PR-06: a close without a finish reason is no success", async () => {
    const cut = chatAnswer().toolCall("Bash", { command: "echo no" }).unfinished();
    const run = await ask([cut], ["--max-retries", "0", "--allowed-tools", "Bash"]);
    expect(resultOf(run)).toMatchObject({ exit_code: 75, error: { code: "stream_interrupted" } });
    expect(ofType(run.events, "tool_start")).toEqual([]);
  });

  it("a call that the limit cut never runs", async () => {
    const cut = chatAnswer().toolCall("Bash", { command: "echo no" }).done({ finishReason: "length" });
    const run = await ask([cut, cut], ["--allowed-tools", "Bash"]);
    expect(resultOf(run)).toMatchObject({ status: "limit", exit_code: 3, error: { code: "max_tokens" } });
    expect(ofType(run.events, "tool_start")).toEqual([]);
  });

  it("TE-08: silence is an idle time-out; thinking that is not shown is none", async () => {
    const stalled = { steps: [chatAnswer().text("half").unfinished(), { stall: true }] };
    const run = await ask([stalled], ["--idle-timeout", "300ms", "--max-retries", "0"]);
    expect(resultOf(run)).toMatchObject({ exit_code: 75, error: { code: "idle_timeout" } });
    const delta = chatAnswer().delta({ reasoning: "hm" }).unfinished();
    const steps = Array.from({ length: 8 }, () => [delta, { wait: 250 }]).flat();
    const thought = { steps: [...steps, chatAnswer().text("done").done()] };
    const slow = await ask(
      [thought],
      ["--idle-timeout", "1500ms", "--max-retries", "0", "--thinking", "omitted"],
    );
    expect(resultOf(slow)).toMatchObject({ status: "ok", text: "done" });
    expect(ofType(slow.events, "thinking_delta")).toEqual([]);
  });

  it("TE-02: the process ends although the server keeps its connection open", async () => {
    const run = await ask([{ steps: [chatAnswer().text("done").done(), { stall: true }] }]);
    expect(resultOf(run)).toMatchObject({ status: "ok", text: "done" });
  });

  it("US-01, US-02: the obvious sum over the lines is the total", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } };
    const run = await ask([
      chatAnswer().thinking("a").toolCall("Read", { file_path: "x" }).done({ usage }),
      chatAnswer().text("b").done({ usage }),
    ]);
    const total = {
      input_tokens: 120,
      output_tokens: 14,
      cache_read_input_tokens: 80,
      cache_creation_input_tokens: 0,
    };
    expect(resultOf(run)).toMatchObject({ usage: total, usage_by_model: { "gpt-test": total } });
  });

  it("refusals and filters are errors, with what was said", async () => {
    const refused = await ask([chatAnswer().delta({ refusal: "I cannot" }).done()]);
    expect(resultOf(refused)).toMatchObject({ exit_code: 1, text: "I cannot", error: { code: "refusal" } });
    const filtered = await ask([chatAnswer().text("half").done({ finishReason: "content_filter" })]);
    expect(resultOf(filtered)).toMatchObject({ exit_code: 1, error: { code: "refusal" } });
  });

  it("FR-05, FR-06, TC-04: what the model wrote comes through, and the next request is sound", async () => {
    const odd = chatAnswer()
      .delta({ content: "≤🦊\u2028\ud83e" })
      .toolCall("Bash", '{"command":"\\ud83e"')
      .done();
    const run = await ask([{ steps: [odd], cutEvery: 3 }, chatAnswer().text("ok").done()]);
    expect(joined(run.events, "text_delta", 1)).toBe("≤🦊\u2028\uFFFD");
    expect(ofType(run.events, "tool_end")).toMatchObject([{ status: "error" }]);
    expect(run.server.requests[1]?.text).not.toMatch(/(?<!\\)\\ud[89a-f]/i);
    expect(resultOf(run).text).toBe("ok");
  });
});
