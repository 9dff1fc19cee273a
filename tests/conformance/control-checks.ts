// What a caller of the SDK asks and is asked: permissions, control requests, sessions, and what is refused.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Feed, blocksOf, runs, says, stalls, within, type QueryOutcome } from "./bench.ts";
import type { Check, Checks } from "./check.ts";
import type { SdkQuery } from "./sdk.ts";

interface AskedCall {
  name: string;
  toolUseID: string;
}

const RUN_AND_END = [runs("echo from-the-model"), says("done")];

export const CONTROL_CHECKS: Checks = {
  "initialize.response": {
    need: "core",
    answers: [says("fine")],
    run: async (bench) => {
      const feed = new Feed();
      const query = bench.start(feed);
      const init = await within(query.initializationResult(), "the answer to initialize");
      assert(Array.isArray(init.commands) && Array.isArray(init.models) && typeof init.account === "object");
      feed.end();
      await within(drain(query), "the end without a prompt");
    },
  },
  "permission.allow": {
    need: "core",
    answers: RUN_AND_END,
    run: async (bench) => {
      const asked: AskedCall[] = [];
      const canUseTool = async (name: string, _input: unknown, { toolUseID }: AskedCall) => {
        asked.push({ name, toolUseID });
        return { behavior: "allow", updatedInput: { command: "echo from-the-client" } };
      };
      const { messages } = await bench.answered("hi", { canUseTool }, "done");
      const [use] = blocksOf(messages, "assistant", "tool_use");
      assert.deepEqual(asked, [{ name: use?.name, toolUseID: use?.id }]);
      assert.match(resultText({ messages }), /from-the-client/);
    },
  },
  "permission.deny": {
    need: "core",
    answers: RUN_AND_END,
    run: async (bench) => {
      const canUseTool = async () => ({ behavior: "deny", message: "the check says no" });
      const { messages, result } = await bench.answered("hi", { canUseTool }, "done");
      assert.match(resultText({ messages }), /the check says no/);
      assert.equal(blocksOf(messages, "user", "tool_result")[0]?.is_error, true);
      assert.equal(result.permission_denials?.[0]?.tool_name, "Bash");
    },
  },
  "permission.default-denies": {
    need: "core",
    answers: [runs("touch made"), says("done")],
    run: async (bench) => {
      const { messages } = await bench.answered("hi", {}, "done");
      assert.equal(blocksOf(messages, "user", "tool_result")[0]?.is_error, true);
      assert(!existsSync(join(bench.cwd, "made")), "the command ran");
    },
  },
  "permission.allowedTools": {
    need: "core",
    answers: RUN_AND_END,
    run: async (bench) => {
      const canUseTool = async () => ({ behavior: "deny", message: "nobody should ask" });
      const { messages } = await bench.answered("hi", { canUseTool, allowedTools: ["Bash(echo:*)"] }, "done");
      assert.match(resultText({ messages }), /from-the-model/);
    },
  },
  "control.interrupt": {
    need: "core",
    answers: [stalls("Once upon"), says("after")],
    run: async (bench) => {
      const feed = new Feed();
      feed.push("a");
      let asked: Promise<unknown> | undefined;
      const { messages, error } = await bench.query(
        feed,
        { includePartialMessages: true },
        async ({ type, event, result }, query) => {
          if (event?.type === "content_block_delta")
            asked ??= within(query.interrupt(), "the answer to interrupt");
          if (type !== "result") return;
          await asked;
          if (result === "after") feed.end();
          else feed.push("b");
        },
      );
      assert.equal(error?.message, undefined);
      assert.deepEqual(
        messages.flatMap(({ type, subtype }) => (type === "result" ? [subtype] : [])),
        ["error_during_execution", "success"],
      );
    },
  },
  "control.set-model": between("full", [says("one"), says("two")], {
    change: (query) => query.setModel("another-model"),
    expect: ({ messages }, requests) => {
      assert.equal(messages.findLast(({ subtype }) => subtype === "init")?.model, "another-model");
      assert.match(requests[1] ?? "", /another-model/);
    },
  }),
  "control.set-permission-mode": between("core", [says("one"), ...RUN_AND_END], {
    options: {
      allowDangerouslySkipPermissions: true,
      canUseTool: async () => ({ behavior: "deny", message: "nobody should ask" }),
    },
    change: (query) => query.setPermissionMode("bypassPermissions"),
    expect: (outcome) => assert.match(resultText(outcome), /from-the-model/),
  }),
  "control.unknown-is-answered": {
    need: "core",
    answers: [says("fine")],
    run: async (bench) => {
      const feed = new Feed();
      const query = bench.start(feed);
      const end = drain(query);
      await assert.rejects(within(query.stopTask("none"), "an unknown request"), /does not know/);
      assert.deepEqual(await within(query.mcpServerStatus(), "mcp_status"), []);
      feed.end();
      await within(end, "the end");
    },
  },
  "session.resume": resuming(
    "core",
    (id) => ({ resume: id }),
    (before, now) => assert.equal(now, before),
  ),
  "session.fork": resuming(
    "full",
    (id) => ({ resume: id, forkSession: true }),
    (before, now) => assert.notEqual(now, before),
  ),
  "session.continue": resuming(
    "full",
    () => ({ continue: true }),
    (before, now) => assert.equal(now, before),
  ),
  "session.own-id": {
    need: "full",
    answers: [says("fine")],
    run: async (bench) => {
      const sessionId = randomUUID();
      assert.equal((await bench.answered("hi", { sessionId })).result.session_id, sessionId);
    },
  },
  "session.resume-unknown": {
    need: "core",
    answers: [says("never")],
    run: async (bench) => {
      const { error, result } = await bench.query("hi", { resume: randomUUID() });
      assert(error ?? result?.is_error, "it passed as a success");
      assert.equal(bench.provider.requests.length, 0);
    },
  },
  "refused.hooks": refused(
    { hooks: { PreToolUse: [{ hooks: [async () => ({})] }] } },
    /hooks \(PreToolUse\)/,
  ),
  "refused.mcp": refused({ mcpServers: { conf: { type: "stdio", command: "true" } } }, /MCP servers/),
  "refused.json-schema": refused(
    { outputFormat: { type: "json_schema", schema: { type: "object" } } },
    /JSON Schema/i,
  ),
};

interface Change {
  options?: Record<string, unknown>;
  change: (query: SdkQuery) => Promise<unknown>;
  /** @param requests the bodies of what the model was asked. */
  expect: (outcome: QueryOutcome, requests: readonly string[]) => void;
}

/** Two turns, and a request between them. */
function between(
  need: Check["need"],
  answers: readonly string[],
  { options = {}, change, expect }: Change,
): Check {
  return {
    need,
    answers,
    run: async (bench) => {
      const feed = new Feed();
      feed.push("a");
      const outcome = await bench.query(feed, options, async ({ type, result }, query) => {
        if (type !== "result") return;
        if (result !== "one") return feed.end();
        await within(change(query), "the answer to the request");
        feed.push("b");
      });
      assert.equal(outcome.error?.message, undefined);
      expect(
        outcome,
        bench.provider.requests.map(({ text }) => text),
      );
    },
  };
}

/** A session of one turn, carried on by a second process. */
function resuming(
  need: Check["need"],
  options: (id: string) => Record<string, unknown>,
  expectIds: (before: string | undefined, now: string | undefined) => void,
): Check {
  return {
    need,
    answers: [says("the-word-is-quartz"), says("two")],
    run: async (bench) => {
      const { result } = await bench.answered("a");
      const second = await bench.answered("b", options(result.session_id ?? ""), "two");
      assert.match(bench.provider.requests[1]?.text ?? "", /the-word-is-quartz/);
      expectIds(result.session_id, second.result.session_id);
    },
  };
}

/** What is not there is said, and no model is asked without it. */
function refused(options: Record<string, unknown>, words: RegExp): Check {
  return {
    need: "core",
    answers: [says("never")],
    run: async (bench) => {
      const { error, result } = await bench.query("hi", options);
      assert.match([error?.message, ...(result?.errors ?? [])].join(" "), words);
      assert.equal(bench.provider.requests.length, 0);
    },
  };
}

function resultText({ messages }: Pick<QueryOutcome, "messages">): string {
  return JSON.stringify(blocksOf(messages, "user", "tool_result").map(({ content }) => content));
}

async function drain(query: SdkQuery): Promise<void> {
  while (!(await query.next()).done);
}
