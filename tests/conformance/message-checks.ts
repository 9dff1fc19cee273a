// What a caller of the SDK reads of messages, and what it may say on the command line.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Feed, blocksOf, runs, says, stalls, textOf, userMessage, within, type Bench } from "./bench.ts";
import type { Checks } from "./check.ts";

const LONG = "x".repeat(600_000);
const SEPARATORS = "a\u2028b\u2029c\u{1F600}d";

export const MESSAGE_CHECKS: Checks = {
  "plain.result": {
    need: "core",
    answers: [says("hi there")],
    run: async (bench) => void (await bench.answered("hi", {}, "hi there")),
  },
  "plain.order": {
    need: "core",
    answers: [says("hi there")],
    run: async (bench) => {
      const { messages } = await bench.answered("hi");
      assert.deepEqual(
        messages.map(({ type, subtype }) => subtype ?? type),
        ["init", "assistant", "success"],
      );
    },
  },
  "plain.fields": {
    need: "core",
    answers: [says("hi there")],
    run: async (bench) => {
      const { messages, result } = await bench.answered("hi");
      const [init, assistant] = messages;
      expectFields(init, ["session_id", "uuid", "cwd", "model", "permissionMode"], "string");
      expectFields(init, ["apiKeySource", "claude_code_version", "output_style"], "string");
      expectFields(init, ["tools", "mcp_servers", "slash_commands", "skills", "plugins"], "array");
      expectFields(assistant, ["session_id", "uuid"], "string");
      expectFields(assistant?.message, ["id", "type", "role", "model"], "string");
      assert.equal(assistant?.parent_tool_use_id, null);
      expectFields(result, ["duration_ms", "duration_api_ms", "num_turns", "total_cost_usd"], "number");
      expectFields(result, ["permission_denials"], "array");
      expectFields(
        Reflect.get(result, "usage"),
        ["input_tokens", "output_tokens", "cache_read_input_tokens"],
        "number",
      );
    },
  },
  "plain.ids": {
    need: "core",
    answers: [says("hi there")],
    run: async (bench) => {
      const { messages } = await bench.answered("hi");
      assert.equal(new Set(messages.map(({ session_id }) => session_id)).size, 1, "several session ids");
      assert.equal(new Set(messages.map(({ uuid }) => uuid)).size, messages.length, "a uuid comes twice");
    },
  },
  "plain.line-separators": {
    need: "core",
    answers: [says(SEPARATORS)],
    run: async (bench) => {
      const { messages } = await bench.answered("hi", {}, SEPARATORS);
      assert.equal(textOf(messages), SEPARATORS);
    },
  },
  "plain.big-line": {
    need: "core",
    answers: [says(LONG)],
    run: async (bench) => void (await bench.answered("hi", {}, LONG)),
  },
  "flags.tolerated": {
    need: "core",
    answers: [says("fine")],
    run: async (bench) => {
      const { messages } = await bench.answered("hi", tolerated(bench), "fine");
      assert.deepEqual([messages[0]?.model, messages[0]?.permissionMode], ["some-model", "acceptEdits"]);
    },
  },
  "flags.system-prompt": {
    need: "full",
    answers: [says("fine")],
    run: async (bench) => {
      await bench.answered("hi", { systemPrompt: "BE-TERSE" });
      assert.match(bench.provider.requests[0]?.text ?? "", /BE-TERSE/);
    },
  },
  "stream.two-turns": {
    need: "core",
    answers: [says("one"), says("two")],
    run: async (bench) => {
      const feed = new Feed();
      feed.push("a");
      const { messages, error } = await bench.query(feed, {}, ({ type, result }) => {
        if (type !== "result") return;
        if (result === "one") feed.push("b");
        else feed.end();
      });
      assert.equal(error?.message, undefined);
      assert.deepEqual(
        messages.flatMap(({ type, result }) => (type === "result" ? [result] : [])),
        ["one", "two"],
      );
    },
  },
  "stream.content-blocks": {
    need: "core",
    answers: [says("fine")],
    run: async (bench) => {
      const content = ["first", "second"].map((text) => ({ type: "text", text }));
      await bench.answered(only(userMessage(content)), {}, "fine");
      assert.match(bench.provider.requests[0]?.text ?? "", /first.*second/s);
    },
  },
  "stream.replay": {
    need: "full",
    answers: [says("fine")],
    run: async (bench) => {
      const uuid = randomUUID();
      const extraArgs = { "replay-user-messages": null };
      const { messages } = await bench.answered(only(userMessage("hi", { uuid })), { extraArgs });
      const echo = messages.findIndex(({ isReplay }) => isReplay);
      assert.equal(messages[echo]?.uuid, uuid);
      assert(echo < messages.findIndex(({ type }) => type === "assistant"), "it comes after the answer");
    },
  },
  "stream.session-state": {
    need: "full",
    answers: [says("fine")],
    run: async (bench) => {
      const env = { ...bench.env, CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" };
      const { messages } = await bench.answered("hi", { env });
      assert.deepEqual(
        messages.flatMap(({ subtype, state }) => (subtype === "session_state_changed" ? [state] : [])),
        ["running", "idle"],
      );
      assert.equal(messages.at(-1)?.state, "idle", "it does not come last");
    },
  },
  "partial.stream-events": {
    need: "full",
    answers: [says("a longer sentence, in pieces")],
    run: async (bench) => {
      const { messages } = await bench.answered("hi", { includePartialMessages: true });
      const events = messages.flatMap(({ event }) => event ?? []);
      const kinds = events.map(({ type }) => type);
      assert.deepEqual([kinds[0], kinds.at(-1)], ["message_start", "message_stop"]);
      assert.equal(events.map(({ delta }) => delta?.text ?? "").join(""), "a longer sentence, in pieces");
      assert.equal(textOf(messages), "a longer sentence, in pieces");
    },
  },
  "partial.off-by-default": {
    need: "core",
    answers: [says("fine")],
    run: async (bench) => {
      const { messages } = await bench.answered("hi");
      assert(!messages.some(({ type }) => type === "stream_event"));
    },
  },
  "errors.api": {
    need: "core",
    answers: [
      {
        status: 400,
        body: { type: "error", error: { type: "invalid_request_error", message: "bad field" } },
      },
    ],
    run: async (bench) => {
      const { result, messages } = await bench.query("hi");
      assert.deepEqual([result?.subtype, result?.is_error], ["success", true]);
      assert.match(result?.result ?? "", /bad field/);
      assert.match(textOf(messages), /bad field/);
    },
  },
  "limits.max-turns": {
    need: "core",
    answers: [runs("true")],
    run: async (bench) => {
      const { result, messages } = await bench.query("hi", { maxTurns: 2, allowedTools: ["Bash"] });
      assert.deepEqual([result?.subtype, result?.is_error], ["error_max_turns", true]);
      assert.equal(result?.errors?.length, 1);
      assert.equal(blocksOf(messages, "assistant", "tool_use").length, 2);
    },
  },
  "process.abort": {
    need: "core",
    answers: [stalls("Once upon")],
    run: async (bench) => {
      const controller = new AbortController();
      const options = { abortController: controller, includePartialMessages: true };
      const { error } = await bench.query("hi", options, ({ type }) => {
        if (type === "stream_event") controller.abort();
      });
      assert(error, "the SDK did not throw");
      await noAnswerOpen(bench);
    },
  },
  "process.break-early": {
    need: "core",
    answers: [stalls("Once upon")],
    run: async (bench) => {
      for await (const { type } of bench.start("hi", { includePartialMessages: true }))
        if (type === "stream_event") break;
      await noAnswerOpen(bench);
    },
  },
};

const KINDS = {
  string: (value: unknown) => typeof value === "string" && value !== "",
  number: (value: unknown) => typeof value === "number",
  array: (value: unknown) => Array.isArray(value),
};

function expectFields(value: unknown, fields: readonly string[], kind: keyof typeof KINDS): void {
  const missing = fields.filter((field) => !KINDS[kind](Reflect.get(Object(value), field)));
  assert.deepEqual(missing, [], `of ${kind} are not`);
}

/** What callers set that linefeed does, does otherwise, or can leave out. */
function tolerated({ cwd }: Bench): Record<string, unknown> {
  return {
    model: "some-model",
    fallbackModel: "other-model",
    maxTurns: 5,
    maxBudgetUsd: 5,
    systemPrompt: "You are terse.",
    allowedTools: ["Read"],
    disallowedTools: ["WebSearch"],
    permissionMode: "acceptEdits",
    includePartialMessages: true,
    settingSources: ["project"],
    additionalDirectories: [cwd],
    effort: "high",
    strictMcpConfig: true,
    persistSession: false,
    agents: { helper: { description: "helps", prompt: "help" } },
    thinking: { type: "disabled" },
    tools: { type: "preset", preset: "claude_code" },
    settings: "{}",
    includeHookEvents: true,
  };
}

async function* only(message: object): AsyncGenerator<object, void> {
  yield message;
}

/** The process is gone, and with it its connection. */
async function noAnswerOpen({ provider }: Bench): Promise<void> {
  const gone = async () => {
    while (provider.openAnswers > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await within(gone(), "the end of the process");
}
