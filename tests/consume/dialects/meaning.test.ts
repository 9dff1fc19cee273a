import { describe, expect, it } from "vitest";
import { Transcript, type StreamItem } from "../../../src/consume/index.ts";
import type { DialectName } from "../../../src/protocol/words.ts";
import { faultsOf, fixture, itemsOf, linesOf } from "../../support/dialects.ts";

const resultsOf = (items: readonly StreamItem[]) => items.filter((item) => item.type === "result");
const endsOf = (items: readonly StreamItem[]) => items.filter((item) => item.type === "tool_end");
const eventsOf = (agent: DialectName) => itemsOf([fixture(`${agent}-events`)]);

describe("a failure that is dressed as success", () => {
  it("Claude Code: a failed model call is `success` with `is_error`", async () => {
    const [, failed] = resultsOf(await eventsOf("claude"));
    expect(failed).toMatchObject({
      status: "error",
      text: null,
      error: { code: "authentication", http_status: 401, retryable: false },
    });
  });

  it("Qwen Code: a failed model call is the answer of a success", async () => {
    const items = await eventsOf("qwen");
    expect(resultsOf(items)[1]).toMatchObject({
      status: "error",
      text: null,
      error: { code: "authentication", message: "401 invalid key (Status: 401)" },
    });
    const transcript = new Transcript();
    for (const item of items) transcript.apply(item);
    expect(JSON.stringify(transcript.history)).not.toContain("API Error");
  });

  it("Qwen Code: an answer about such an error is an answer, since it has its tokens", async () => {
    const text = fixture("qwen-hello").replaceAll("for the bench.", "[API Error: 401]");
    expect(resultsOf(await itemsOf([text]))).toMatchObject([{ status: "ok" }]);
  });

  it("pi: the exit code is 0, and only the message says that it failed", async () => {
    const failed = fixture("pi-hello").replaceAll(
      '"stopReason":"stop"',
      '"stopReason":"error","errorMessage":"401 no"',
    );
    expect(resultsOf(await itemsOf([failed]))).toMatchObject([
      { status: "error", text: null, error: { code: "authentication", message: "401 no" } },
    ]);
  });

  it("an answer that was cut at the limit of tokens is no success", async () => {
    const cut = fixture("opencode-hello").replace('"reason":"stop"', '"reason":"length"');
    expect(resultsOf(await itemsOf([cut]))).toMatchObject([
      { status: "limit", error: { code: "max_tokens" } },
    ]);
  });
});

describe("calls", () => {
  it("end in the order in which they were asked for, whatever the order of their results", async () => {
    const ends = endsOf(await eventsOf("claude")).map(
      ({ tool_use_id, status }) => `${tool_use_id} ${status}`,
    );
    expect(ends.slice(0, 2)).toEqual(["toolu_1 error", "toolu_2 ok"]);
  });

  it("that began while others ran become the next step", async () => {
    const items = await eventsOf("codex");
    const starts = items
      .filter((item) => item.type === "tool_start")
      .map(({ step, name }) => `${step} ${name}`);
    expect(starts.slice(0, 2)).toEqual(["1 command_execution", "2 docs.find"]);
    expect(faultsOf(linesOf(items))).toEqual([]);
  });

  it("that were denied are listed", async () => {
    const [first] = resultsOf(await eventsOf("claude"));
    expect(first?.permission_denials).toEqual([
      {
        tool_use_id: "toolu_3",
        name: "Bash",
        input: { command: "rm -rf build" },
        reason: "Permission to use Bash with command rm -rf build has been denied.",
      },
    ]);
    for (const agent of ["codex", "gemini", "opencode"] as const) {
      expect(endsOf(await eventsOf(agent)).some(({ status }) => status === "denied")).toBe(true);
    }
  });

  it("keep their exit codes and durations where these are told", async () => {
    expect(endsOf(await eventsOf("claude"))[0]).toMatchObject({ exit_code: 1, duration_ms: null });
    expect(endsOf(await eventsOf("claude"))[1]).toMatchObject({ duration_ms: 740 });
    expect(endsOf(await eventsOf("opencode"))[1]).toMatchObject({ exit_code: 1, duration_ms: 14 });
    expect(endsOf(await eventsOf("pi"))[0]).toMatchObject({ status: "error", exit_code: 1 });
  });

  it("show what their sub-agents say as live output", async () => {
    for (const agent of ["claude", "qwen"] as const) {
      const output = (await eventsOf(agent)).flatMap((item) =>
        item.type === "tool_output_delta" ? item.text : [],
      );
      expect(output.join("")).toMatch(/^I (search|am on it)\.\n(Grep helper|run_shell_command ls)\n$/);
    }
  });
});

describe("what is told twice", () => {
  it("comes out once: deltas and the whole, and text that is repeated from its beginning", async () => {
    for (const name of ["claude-hello", "qwen-hello", "pi-hello", "codex-hello"]) {
      const items = await itemsOf([fixture(name)]);
      const deltas = items.flatMap((item) => (item.type === "text_delta" ? item.text : []));
      expect(deltas.join("")).toBe(resultsOf(items)[0]?.text);
    }
  });

  it("and contradicts itself: what was said does not count, the message does", async () => {
    const text = fixture("claude-hello").replace('"text":" fake"', '"text":" real"');
    const items = await itemsOf([text]);
    expect(faultsOf(linesOf(items))).toEqual([]);
    expect(items.filter((item) => item.type === "step_end").map(({ status }) => status)).toEqual([
      "error",
      "ok",
    ]);
    expect(resultsOf(items)[0]?.text).toContain("the fake model");
  });

  it("half a character waits for its other half", async () => {
    const deltas = (await eventsOf("pi")).flatMap((item) => (item.type === "text_delta" ? item.text : []));
    expect(deltas).toContain("🫖 it.");
    expect(deltas.every((text) => text.isWellFormed())).toBe(true);
  });
});

describe("recorded runs of other forms", () => {
  it("Claude Code without partial messages: calls side by side, one failed, one not allowed", async () => {
    const items = await itemsOf([fixture("claude-whole")]);
    const ends = endsOf(items).map(({ status, exit_code }) => ({ status, exit_code }));
    expect(ends).toEqual([
      { status: "ok", exit_code: null },
      { status: "error", exit_code: 1 },
      { status: "denied", exit_code: null },
    ]);
    const [result] = resultsOf(items);
    expect(result).toMatchObject({ status: "ok", steps: 2, permission_denials: [{ name: "Write" }] });
    expect(items.filter((item) => item.type === "message").map(({ usage }) => usage)).toEqual([null, null]);
    expect(result?.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
  });

  it("pi with deltas only", async () => {
    const items = await itemsOf([fixture("pi-deltas")]);
    const output = items.flatMap((item) => (item.type === "tool_output_delta" ? item.text : []));
    expect(output).toEqual(["hi\n", "ho\n"]);
    expect(endsOf(items)).toMatchObject([{ status: "ok", exit_code: 0, duration_ms: 309 }]);
    expect(resultsOf(items)).toMatchObject([{ status: "ok", text: "All steps are done.", steps: 2 }]);
  });
});

describe("retries", () => {
  it.each([
    [
      "claude",
      { attempt: 1, max_attempts: 11, delay_ms: 538, error: { code: "overloaded", http_status: 529 } },
    ],
    ["codex", { attempt: 1, max_attempts: 6, delay_ms: null, error: { code: "agent_error" } }],
    ["opencode", { attempt: 1, max_attempts: null, delay_ms: null }],
    [
      "pi",
      { attempt: 1, max_attempts: 4, delay_ms: 2000, discards_partial: true, error: { code: "overloaded" } },
    ],
  ] as const)("of %s are told, and void what was said", async (agent, fields) => {
    const retry = (await eventsOf(agent)).find((item) => item.type === "retry");
    expect(retry).toMatchObject(fields);
  });
});

describe("two sessions in one stream", () => {
  const hello = fixture("claude-hello").trimEnd().split("\n");
  const other = fixture("claude-tools")
    .replaceAll(/"session_id":"[^"]*"/g, '"session_id":"other"')
    .trimEnd()
    .split("\n");

  it("one behind the other are two runs, each with its own numbers", async () => {
    const items = await itemsOf([[...hello, ...other].join("\n")]);
    expect(resultsOf(items)).toMatchObject([
      { session_id: "00000000-0000-4000-8000-000000000001", status: "ok", synthetic: false },
      { session_id: "other", status: "ok", text: "All steps are done.", synthetic: false },
    ]);
    const begins = items.filter((item) => item.type === "init").map(({ seq, resumed }) => ({ seq, resumed }));
    expect(begins).toEqual([
      { seq: 1, resumed: false },
      { seq: 1, resumed: false },
    ]);
  });

  it("mixed: the later one breaks off the earlier one, whose further lines are handed on as they are", async () => {
    const mixed = other.flatMap((line, at) => [...hello.slice(at, at + 1), line]);
    const items = await itemsOf([mixed.join("\n")]);
    expect(resultsOf(items)).toMatchObject([
      { status: "error", synthetic: true, error: { code: "stream_interrupted" } },
      { session_id: "other", status: "ok", text: "All steps are done." },
    ]);
    const strangers = items.filter((item) => item.type === "unknown");
    expect(strangers).toHaveLength(hello.length - 1);
    expect(strangers.every(({ raw, dialect }) => raw["session_id"] !== "other" && dialect === "claude")).toBe(
      true,
    );
  });
});

describe("the end", () => {
  it.each(["claude", "codex", "gemini", "qwen", "opencode", "pi"] as const)(
    "of %s is missed when it is missing",
    async (agent) => {
      const lines = fixture(`${agent}-tools`).trimEnd().split("\n");
      const items = await itemsOf([lines.slice(0, -3).join("\n")]);
      expect(resultsOf(items)).toMatchObject([
        { status: "error", exit_code: 1, synthetic: true, error: { code: "stream_interrupted" } },
      ]);
    },
  );

  it("of a run that never began is missed too", async () => {
    expect(resultsOf(await itemsOf([""], "codex"))).toMatchObject([{ synthetic: true, turns: 0 }]);
  });

  it("of a run whose last line is an error is that error", async () => {
    const lines = fixture("codex-events").trimEnd().split("\n").slice(0, -1);
    expect(resultsOf(await itemsOf([lines.join("\n")])).at(-1)).toMatchObject({
      synthetic: true,
      error: { code: "authentication", http_status: 401 },
    });
  });
});

describe("a line that is nested too deeply to be written again", () => {
  it("is no event, and costs no other", async () => {
    const deep = `{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"s","tool":"t","arguments":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
    const [first = "", ...rest] = fixture("codex-hello").split("\n");
    const items = await itemsOf([[first, deep, ...rest].join("\n")]);
    expect(items.filter((item) => item.type === "invalid")).toMatchObject([
      { reason: "wrong_fields", line: 2, message: "line 2: nested too deeply" },
    ]);
    expect(resultsOf(items)).toMatchObject([{ status: "ok" }]);
    expect(faultsOf(linesOf(items))).toEqual([]);
  });
});

describe("calls without number", () => {
  it.each([
    [
      "codex",
      (id: number) => ({
        type: "item.started",
        item: { id: `i${id}`, type: "command_execution", command: "x" },
      }),
    ],
    ["gemini", (id: number) => ({ type: "tool_use", tool_name: "x", tool_id: `i${id}`, parameters: {} })],
  ] as const)(
    "of %s that never end are closed all the same, in time that grows with their number",
    async (agent, line) => {
      const [first = ""] = fixture(`${agent}-hello`).split("\n");
      const flood = Array.from({ length: 20_000 }, (_, id) => JSON.stringify(line(id)));
      const items = await itemsOf([[first, ...flood].join("\n")], agent);
      expect(items.filter(({ type }) => type === "tool_end")).toHaveLength(agent === "codex" ? 20_000 : 0);
      expect(faultsOf(linesOf(items))).toEqual([]);
    },
  );
});

describe("memory", () => {
  it("is that of one message at most: one without end is given up", async () => {
    const piece = "x".repeat(1024 * 1024);
    const [init = ""] = fixture("gemini-hello").split("\n");
    const delta = JSON.stringify({
      type: "message",
      role: "assistant",
      content: piece,
      delta: true,
      timestamp: "2026-11-30T00:00:00.000Z",
    });
    const items = await itemsOf([`${init}\n`, ...Array.from({ length: 40 }, () => `${delta}\n`)]);
    expect(items.filter((item) => item.type === "step_end").map(({ status }) => status)).toEqual([
      "error",
      "error",
    ]);
    expect(resultsOf(items)).toMatchObject([{ synthetic: true }]);
  });
});
