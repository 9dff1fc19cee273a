import { describe, expect, it } from "vitest";
import { bashTool } from "../../src/tools/bash.ts";
import { AgentError } from "../../src/protocol/errors.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import {
  collectTurn,
  kinds,
  okResult,
  recordingClient,
  testAgent,
  testAgentOptions,
  testTool,
  type TestInput,
} from "./support.ts";

const call = (name: string, input: Record<string, unknown> = {}) => ({
  type: "tool_use" as const,
  name,
  input,
});
const answers = (...list: (string | object)[]) => ({ answers: list as never });

describe("the loop", () => {
  it("is lazy: nothing is asked before it is pulled, and only as far as it is pulled", async () => {
    const { client, requests } = recordingClient(answers({ content: [{ type: "text", text: "hello" }] }));
    const turn = testAgent(client, []).runTurn("hi", new AbortController().signal);
    expect(requests).toHaveLength(0);
    expect((await turn.next()).value).toMatchObject({ type: "turn_start" });
    expect((await turn.next()).value).toMatchObject({ type: "step_start" });
    expect(requests).toHaveLength(0);
    await turn.next();
    expect(requests).toHaveLength(1);
  });

  it("runs model, tools, model and gives results back in call order", async () => {
    const { client, requests } = recordingClient(
      answers(
        { content: [{ type: "text", text: "look" }, call("Slow", { n: 1 }), call("Slow", { n: 2 })] },
        { content: [{ type: "text", text: "done" }] },
      ),
    );
    const tool = testTool("Slow", async function* ({ n }) {
      yield { stream: "stdout", text: `out ${n}` };
      return okResult(`result ${n}`);
    });
    const { bodies, outcome } = await collectTurn(testAgent(client, [tool]));
    expect(outcome).toMatchObject({ error: null, text: "done", stopReason: "end_turn" });
    expect(kinds(bodies)).toEqual([
      "turn_start",
      "step_start",
      "message",
      "tool_start",
      "tool_end",
      "tool_start",
      "tool_end",
      "step_end",
      "step_start",
      "message",
      "step_end",
      "turn_end",
    ]);
    expect(requests[1]?.messages.at(-1)).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_fake_1_2", content: "result 1", is_error: false },
        { type: "tool_result", tool_use_id: "toolu_fake_1_3", content: "result 2", is_error: false },
      ],
    });
  });

  it("TC-06: reads run side by side, their ends come in call order", async () => {
    let running = 0;
    let most = 0;
    let release = () => {};
    const allRunning = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tool = testTool(
      "Look",
      async function* ({ n }) {
        running += 1;
        most = Math.max(most, running);
        if (running === 3) release();
        await allRunning;
        // The last call ends first.
        for (let wait = 0; wait < 5 * (3 - (n ?? 0)); wait += 1) await new Promise(setImmediate);
        yield { stream: "stdout", text: String(n) };
        running -= 1;
        return okResult(String(n));
      },
      true,
    );
    const { client, requests } = recordingClient(
      answers(
        { content: [call("Look", { n: 0 }), call("Look", { n: 1 }), call("Look", { n: 2 })] },
        { content: [{ type: "text", text: "done" }] },
      ),
    );
    const { bodies } = await collectTurn(testAgent(client, [tool]));
    expect(most).toBe(3);
    expect(bodies.flatMap((body) => (body.type === "tool_end" ? [body.content] : []))).toEqual([
      "0",
      "1",
      "2",
    ]);
    const results = requests[1]?.messages.at(-1)?.content ?? [];
    expect(results.map((block) => ("content" in block ? block.content : ""))).toEqual(["0", "1", "2"]);
  });

  it("a call that is no read waits for the reads before it and holds back those after it", async () => {
    const order: string[] = [];
    const run = (name: string) =>
      async function* ({ n }: TestInput) {
        order.push(`begin ${name}${n}`);
        await new Promise(setImmediate);
        order.push(`end ${name}${n}`);
        return okResult("");
        yield { stream: "stdout" as const, text: "" };
      };
    const { client } = recordingClient(
      answers(
        { content: [call("Look", { n: 1 }), call("Do", { n: 2 }), call("Look", { n: 3 })] },
        { content: [{ type: "text", text: "done" }] },
      ),
    );
    await collectTurn(testAgent(client, [testTool("Look", run("Look"), true), testTool("Do", run("Do"))]));
    expect(order).toEqual(["begin Look1", "end Look1", "begin Do2", "end Do2", "begin Look3", "end Look3"]);
  });

  it("stops when the caller breaks off: the running call is ended, no later one begins", async () => {
    const events: string[] = [];
    const tool = testTool("Wait", async function* ({ n }, { signal }) {
      events.push(`begin ${n}`);
      try {
        yield { stream: "stdout", text: "x" };
        await aborted(signal);
        return okResult("");
      } finally {
        events.push(`over ${n}`);
      }
    });
    const { client, requests } = recordingClient(
      answers({ content: [call("Wait", { n: 1 }), call("Wait", { n: 2 })] }, { content: [] }),
    );
    const turn = testAgent(client, [tool]).runTurn("hi", new AbortController().signal);
    for await (const body of turn) if (body.type === "tool_output_delta") break;
    expect(events).toEqual(["begin 1", "over 1"]);
    expect(requests).toHaveLength(1);
  });

  it("TC-04, TC-05: unreadable, invalid and unknown calls never run, go back to the model and have one end each", async () => {
    let runs = 0;
    const tool = testTool("Do", async function* () {
      runs += 1;
      return okResult("");
      yield { stream: "stdout" as const, text: "" };
    });
    const { client, requests } = recordingClient(
      answers(
        {
          content: [
            { type: "tool_use", name: "Do", input_json: String.raw`{"a": "\d"}` },
            { type: "tool_use", name: "Do", input: { n: "three" } },
            { type: "tool_use", name: "Fly", input: {} },
            { type: "tool_use", name: "Bash", input: { description: "ls", extra: 1 } },
          ],
        },
        { content: [{ type: "text", text: "sorry" }] },
      ),
    );
    const { bodies, outcome } = await collectTurn(testAgent(client, [tool, bashTool]));
    expect(runs).toBe(0);
    expect(outcome.error).toBeNull();
    const ends = bodies.flatMap((body) => (body.type === "tool_end" ? [body] : []));
    expect(ends.map((end) => [end.status, end.is_error])).toEqual([
      ["error", true],
      ["error", true],
      ["error", true],
      ["error", true],
    ]);
    expect(ends[3]?.content).toMatch(/command.*extra/s);
    expect(String(ends[0]?.content)).toContain(String.raw`{"a": "\d"}`);
    expect(String(ends[1]?.content)).toContain("n:");
    expect(String(ends[2]?.content)).toContain('no tool "Fly"');
    expect(bodies.some((body) => body.type === "tool_start")).toBe(false);
    expect(requests).toHaveLength(2);
  });

  it("gives a call that was cut at the token limit back to the model once, then ends", async () => {
    const cut = {
      content: [{ type: "tool_use", name: "Do", input_json: '{"n": 1' }],
      stop_reason: "max_tokens",
    };
    const tool = testTool("Do", async function* () {
      throw new Error("must not run");
      yield { stream: "stdout" as const, text: "" };
    });
    const { client, requests } = recordingClient(answers(cut, cut, cut));
    const { bodies, outcome } = await collectTurn(testAgent(client, [tool]));
    expect(requests).toHaveLength(2);
    expect(outcome.error?.code).toBe("max_tokens");
    expect(bodies.filter((body) => body.type === "tool_end")).toHaveLength(2);
  });

  it("a final answer that was cut is a limit, and its text is kept", async () => {
    const { client } = recordingClient(
      answers({ content: [{ type: "text", text: "half" }], stop_reason: "max_tokens" }),
    );
    const { outcome, bodies } = await collectTurn(testAgent(client, []));
    expect(outcome).toMatchObject({ text: "half", error: { code: "max_tokens" } });
    expect(bodies.at(-1)).toMatchObject({ type: "turn_end", status: "limit" });
  });

  it("EX-05: an empty answer is an error, and does not enter the history", async () => {
    const { client, requests } = recordingClient(
      answers(
        { content: [] },
        { content: [{ type: "text", text: "  \n" }] },
        { content: [{ type: "text", text: "ok" }] },
      ),
    );
    const agent = testAgent(client, []);
    expect((await collectTurn(agent)).outcome.error?.code).toBe("empty_answer");
    expect((await collectTurn(agent)).outcome.error?.code).toBe("empty_answer");
    expect((await collectTurn(agent)).outcome).toMatchObject({ error: null, text: "ok" });
    expect(requests[1]?.messages.map((message) => message.role)).toEqual(["user", "user"]);
  });

  it("DM-05: a failed attempt is void: retry says so, the history holds the second only", async () => {
    const { client } = recordingClient(
      answers(
        {
          content: [{ type: "text", text: "first attempt" }],
          fault: { code: "stream_interrupted", retryable: true, retry_after_ms: 0, after_characters: 8 },
        },
        { content: [{ type: "text", text: "second" }] },
      ),
    );
    const { bodies, outcome } = await collectTurn(testAgent(client, []));
    expect(kinds(bodies)).toEqual([
      "turn_start",
      "step_start",
      "retry",
      "step_start",
      "message",
      "step_end",
      "turn_end",
    ]);
    expect(bodies.find((body) => body.type === "retry")).toMatchObject({
      attempt: 1,
      max_attempts: 3,
      discards_partial: true,
      error: { code: "stream_interrupted", retryable: true },
    });
    expect(outcome.text).toBe("second");
  });

  it("ends with the error when the retries are used up", async () => {
    const fault = { fault: { code: "overloaded", retryable: true, retry_after_ms: 0 } };
    const { client, requests } = recordingClient(answers(fault, fault, fault, fault));
    const { bodies, outcome } = await collectTurn(testAgent(client, []));
    expect(requests).toHaveLength(3);
    expect(outcome.error).toMatchObject({ code: "overloaded", retryable: true });
    expect(bodies.find((body) => body.type === "retry")).toMatchObject({ discards_partial: false });
    expect(kinds(bodies).slice(-2)).toEqual(["step_end", "turn_end"]);
  });

  it("EX-02, EX-03: never asks the model more often than the limit, and does not run what nobody will see", async () => {
    const always = { content: [call("Do")] };
    let runs = 0;
    const tool = testTool("Do", async function* () {
      runs += 1;
      return okResult("");
      yield { stream: "stdout" as const, text: "" };
    });
    for (const maxSteps of [0, 1, 3, 60]) {
      runs = 0;
      const { client, requests } = recordingClient(answers(...Array.from({ length: 100 }, () => always)));
      const agent = testAgent(client, [tool], { limits: { maxSteps, maxBudgetTokens: undefined } });
      const { bodies, outcome } = await collectTurn(agent);
      expect(requests).toHaveLength(maxSteps);
      expect(runs).toBe(Math.max(0, maxSteps - 1));
      expect(outcome.error?.code).toBe("max_steps");
      expect(bodies.at(-1)).toMatchObject({ type: "turn_end", status: "limit", steps: maxSteps });
      expect(bodies.filter((body) => body.type === "tool_end")).toHaveLength(maxSteps);
    }
  });

  it("ends the run in order when its tokens are used up", async () => {
    const asks = { content: [call("Do")], usage: { input_tokens: 60, output_tokens: 50 } };
    const { client, requests } = recordingClient(answers(asks, asks));
    const agent = testAgent(client, [testTool("Do", neverRuns)], {
      limits: { maxSteps: undefined, maxBudgetTokens: 100 },
    });
    const { outcome, bodies } = await collectTurn(agent);
    expect(requests).toHaveLength(1);
    expect(outcome.error?.code).toBe("max_budget");
    expect(bodies.find((body) => body.type === "tool_end")).toMatchObject({ status: "cancelled" });
  });

  it("a cancelled run ends its running call, never begins the rest, and says cancelled all the way out", async () => {
    const controller = new AbortController();
    const tool = testTool("Wait", async function* (_, { signal }) {
      yield { stream: "stdout", text: "x" };
      await aborted(signal);
      return { status: "cancelled", content: "ended", exitCode: null, truncated: false, outputFile: null };
    });
    const { client } = recordingClient(answers({ content: [call("Wait"), call("Wait")] }));
    const bodies: EventBody[] = [];
    for await (const body of testAgent(client, [tool]).runTurn("hi", controller.signal)) {
      bodies.push(body);
      if (body.type === "tool_output_delta") controller.abort(new AgentError("cancelled", "stop"));
    }
    expect(bodies.filter((body) => body.type === "tool_start")).toHaveLength(1);
    expect(bodies.flatMap((body) => (body.type === "tool_end" ? [body.status] : []))).toEqual([
      "cancelled",
      "cancelled",
    ]);
    expect(bodies.at(-2)).toMatchObject({ type: "step_end", status: "cancelled" });
    expect(bodies.at(-1)).toMatchObject({
      type: "turn_end",
      status: "cancelled",
      error: { code: "cancelled" },
    });
  });

  it("a cancelled model call ends at once, also while it waits for a retry", async () => {
    for (const answer of [
      { content: [{ type: "text", text: "a" }], stall: true },
      { fault: { code: "overloaded", retryable: true, retry_after_ms: 50_000 } },
    ]) {
      const controller = new AbortController();
      const { client } = recordingClient(answers(answer));
      const bodies: EventBody[] = [];
      for await (const body of testAgent(client, []).runTurn("hi", controller.signal)) {
        bodies.push(body);
        if (body.type === "text_delta" || body.type === "retry")
          controller.abort(new AgentError("cancelled", "stop"));
      }
      expect(bodies.at(-1)).toMatchObject({ type: "turn_end", status: "cancelled" });
    }
  });

  it("TE-08: a model that falls silent is an idle time-out, retried and then reported as retryable", async () => {
    const silent = { content: [{ type: "text", text: "abc" }], stall: true };
    const { client, requests } = recordingClient(answers(silent, silent));
    const agent = testAgent(client, [], {
      call: { maxRetries: 1, idleTimeoutMs: 30, includeToolInput: false, random: () => 1 },
    });
    const { outcome, bodies } = await collectTurn(agent);
    expect(requests).toHaveLength(2);
    expect(outcome.error).toMatchObject({ code: "idle_timeout", retryable: true });
    expect(bodies.find((body) => body.type === "retry")).toMatchObject({ discards_partial: true });
  });

  it("time for which the reader blocks the run is no silence of the model", async () => {
    const { client } = recordingClient(
      answers({ content: [{ type: "text", text: "late" }], first_delay_ms: 80 }),
    );
    const base = testAgentOptions(client, []);
    let sleeps = 0;
    const clock = {
      now: () => Date.now(),
      active: () => 0,
      sleep: async (_ms: number, signal: AbortSignal) => {
        sleeps += 1;
        if (sleeps > 3) await aborted(signal);
      },
    };
    const agent = testAgent(client, [], {
      runner: { ...base.runner, context: { ...base.runner.context, clock } },
      call: { ...base.call, idleTimeoutMs: 20 },
    });
    expect((await collectTurn(agent)).outcome).toMatchObject({ error: null, text: "late" });
  });

  it("denies what no rule allows: one notice, one end, and the model is told", async () => {
    const { client, requests } = recordingClient(
      answers({ content: [call("Do")] }, { content: [{ type: "text", text: "could not" }] }),
    );
    const denying = testAgent(client, [testTool("Do", neverRuns)], {
      runner: {
        tools: async () => [testTool("Do", neverRuns)],
        policy: { mode: "default", allow: [], deny: [], roots: ["/"], secretFolders: [] },
        context: {
          cwd: "/",
          clock: { now: () => 0, active: () => 0, sleep: async () => undefined },
          timeoutMs: 1,
          outputDirectory: () => "",
          environment: {},
          processMark: "",
          seenFiles: new Map(),
        },
      },
      call: { maxRetries: 0, idleTimeoutMs: 60_000, includeToolInput: false, random: () => 0 },
    });
    const { bodies } = await collectTurn(denying);
    expect(kinds(bodies)).toContain("notice");
    expect(bodies.find((body) => body.type === "tool_end")).toMatchObject({
      status: "denied",
      is_error: true,
    });
    expect(requests).toHaveLength(2);
  });

  it("a tool that throws is an error for the model, not the end of the run", async () => {
    const { client } = recordingClient(
      answers({ content: [call("Do")] }, { content: [{ type: "text", text: "ok" }] }),
    );
    const { bodies, outcome } = await collectTurn(testAgent(client, [testTool("Do", neverRuns)]));
    expect(bodies.find((body) => body.type === "tool_end")).toMatchObject({
      status: "error",
      content: "The tool failed: it ran",
    });
    expect(outcome.error).toBeNull();
  });

  it("turns and steps count through the session, attempts through the step", async () => {
    const { client } = recordingClient(answers({ content: [call("Do")] }, "one", "two"));
    const agent = testAgent(client, [testTool("Do", neverRuns)]);
    const first = await collectTurn(agent);
    const second = await collectTurn(agent);
    const starts = [...first.bodies, ...second.bodies].flatMap((body) =>
      body.type === "step_start" ? [[body.turn, body.step, body.attempt]] : [],
    );
    expect(starts).toEqual([
      [1, 1, 1],
      [1, 2, 1],
      [2, 3, 1],
    ]);
  });

  it("streams a call's arguments only when asked to", async () => {
    const script = answers({ content: [call("Do", { n: 1 })] }, "ok");
    const without = await collectTurn(testAgent(recordingClient(script).client, [testTool("Do", neverRuns)]));
    expect(without.bodies.some((body) => body.type === "tool_input_delta")).toBe(false);
    const agent = testAgent(recordingClient(script).client, [testTool("Do", neverRuns)], {
      call: { maxRetries: 0, idleTimeoutMs: 60_000, includeToolInput: true, random: () => 0 },
    });
    const json = (await collectTurn(agent)).bodies.map((body) =>
      body.type === "tool_input_delta" ? body.partial_json : "",
    );
    expect(JSON.parse(json.join(""))).toEqual({ n: 1 });
  });
});

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", resolve, { once: true });
  });
}

async function* neverRuns(): AsyncGenerator<{ stream: "stdout"; text: string }, never> {
  throw new Error("it ran");
  yield { stream: "stdout", text: "" };
}
