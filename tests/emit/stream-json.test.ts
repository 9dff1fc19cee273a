import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContentBlock } from "../../src/protocol/content.ts";
import type { EventBody, EventBodyOf } from "../../src/protocol/event.ts";
import type { ErrorCode } from "../../src/protocol/errors.ts";
import { Merge } from "../../src/emit/merge.ts";
import { streamJsonFormat } from "../../src/emit/formats/stream-json.ts";
import { init, result, stamped } from "../consume/support.ts";
import { parseLines } from "../support/lint.ts";
import { clientLines, streamJson, textOf, type ClientLine } from "../support/stream-json.ts";

const golden = (name: string) => parseLines(readFileSync(`examples/streams/${name}.jsonl`));
const STREAMS = [
  "plain-answer",
  "tools",
  "tool-input",
  "denied",
  "retry",
  "unavailable",
  "cancelled",
  "limit",
  "turns",
  "usage-error",
];

const turnStart = (turn = 1): EventBody => ({ type: "turn_start", turn, prompt: "x" });
const stepStart = (attempt = 1): EventBody => ({ type: "step_start", turn: 1, step: 1, attempt, model: "m" });
const text = (block: number, words: string): EventBody => ({
  type: "text_delta",
  step: 1,
  block,
  text: words,
});
const message = (...content: ContentBlock[]): EventBody => ({
  type: "message",
  turn: 1,
  step: 1,
  id: "msg_1",
  role: "assistant",
  model: "m",
  content,
  stop_reason: "end_turn",
  usage: null,
  request_id: null,
});
const turnEnd = (more: Partial<EventBodyOf<"turn_end">> = {}): EventBody => ({
  type: "turn_end",
  turn: 1,
  status: "ok",
  stop_reason: "end_turn",
  steps: 1,
  usage: null,
  duration_ms: 5,
  error: null,
  ...more,
});
const failure = (code: ErrorCode, words = "it failed", http_status: number | null = null) => ({
  code,
  message: words,
  http_status,
  retryable: false,
  provider: null,
  request_id: null,
});

const translate = (bodies: readonly EventBody[], partials = false): ClientLine[] =>
  clientLines(streamJson(stamped(bodies), { partials }));
const raw = (lines: readonly ClientLine[]) =>
  lines.filter(({ type }) => type === "stream_event").map(({ event }) => event);
const streamed = (lines: readonly ClientLine[]) =>
  raw(lines)
    .map(({ delta }) => (delta?.type === "text_delta" ? delta.text : ""))
    .join("");

describe.each(STREAMS)("the golden stream %s", (name) => {
  it("becomes these lines", async () => {
    const events = golden(name);
    await expect(streamJson(events)).toMatchFileSnapshot(`../golden/stream-json/${name}.jsonl`);
  });

  it("becomes these with partial messages", async () => {
    const events = golden(name);
    await expect(streamJson(events, { partials: true })).toMatchFileSnapshot(
      `../golden/stream-json/${name}.partial.jsonl`,
    );
  });

  it.each([false, true])("keeps what clients rely on (partials: %s)", (partials) => {
    const events = golden(name);
    const lines = clientLines(streamJson(events, { partials }));
    expect(new Set(lines.map(({ uuid }) => uuid)).size).toBe(lines.length);
    for (const { uuid } of lines) expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const turns = events.filter(({ type }) => type === "turn_start").length;
    const results = lines.filter(({ type }) => type === "result");
    expect(results).toHaveLength(Math.max(turns, 1));
    expect(lines.at(-1)?.type).toBe("result");
    for (const one of results) {
      if (one.subtype === "success") expect(one.result).toBeTypeOf("string");
      else expect(one.errors).toEqual([expect.any(String)]);
    }
    expect(lines.filter(({ subtype }) => subtype === "init")).toHaveLength(turns);
  });
});

describe("turns", () => {
  it("each begins with what has become of the model and the mode by then", () => {
    const settings: { model?: string; permissionMode?: string } = {};
    const format = streamJsonFormat({ settings, partials: false });
    const [first, ...rest] = stamped([init, turnStart(1), turnEnd(), turnStart(2)]);
    const lines: ClientLine[] = [];
    for (const event of first ? [first, ...rest] : []) {
      lines.push(...clientLines(format.event(event) ?? ""));
      if (event.type === "turn_end") Object.assign(settings, { model: "other", permissionMode: "dontAsk" });
    }
    const begins = lines.filter(({ subtype }) => subtype === "init");
    expect(begins.map(({ model, permissionMode }) => [model, permissionMode])).toEqual([
      ["fake", "default"],
      ["other", "dontAsk"],
    ]);
  });

  it("a run without a turn that went well says nothing", () => {
    expect(streamJson(stamped([init, result]))).toBe("");
  });

  it("EX-01: what fails outside of all turns has a result of its own, what a turn has told has none", () => {
    const error = failure("max_budget", "used up");
    const run: EventBody = { ...result, status: "limit", exit_code: 3, error };
    const after = translate([init, turnStart(), turnEnd(), run]);
    expect(after.slice(1).map(({ subtype }) => subtype)).toEqual(["success", "error_max_budget_usd"]);
    const told = translate([init, turnStart(), turnEnd({ status: "limit", error }), run]);
    expect(told.slice(1).map(({ subtype }) => subtype)).toEqual(["error_max_budget_usd"]);
  });

  it("a run that is ended between two turns has no further result, before the first turn it has", () => {
    const run: EventBody = { ...result, status: "cancelled", exit_code: 143, error: failure("cancelled") };
    expect(translate([init, turnStart(), turnEnd(), run])).toHaveLength(2);
    expect(translate([init, run]).map(({ subtype }) => subtype)).toEqual(["error_during_execution"]);
  });

  it("a turn whose writer has died is ended with the run", () => {
    const error = failure("lost_worker", "gone");
    const lost: EventBody = { ...result, status: "error", exit_code: 5, error, synthetic: true };
    const lines = translate([init, turnStart(), stepStart(), text(0, "half"), lost], true);
    expect(raw(lines).at(-1)?.type).toBe("message_stop");
    expect(lines.at(-1)).toMatchObject({ subtype: "error_during_execution", errors: ["gone"], num_turns: 1 });
  });

  it.each<[ErrorCode, string]>([
    ["rate_limit", "success"],
    ["invalid_request", "success"],
    ["refusal", "success"],
    ["max_tokens", "success"],
    ["max_steps", "error_max_turns"],
    ["max_budget", "error_max_budget_usd"],
    ["timeout", "error_during_execution"],
    ["cancelled", "error_during_execution"],
    ["internal", "error_during_execution"],
  ])("EX-02: %s is told as %s", (code, subtype) => {
    const error = failure(code, "why it failed", 400);
    const [, ...lines] = translate([init, turnStart(), stepStart(), turnEnd({ status: "error", error })]);
    const last = lines.at(-1);
    expect(last).toMatchObject({ type: "result", subtype, is_error: true, permission_denials: [] });
    if (subtype === "success") {
      expect(last).toMatchObject({ result: "why it failed", api_error_status: 400 });
      expect(textOf(lines)).toBe("why it failed");
      expect(lines[0]?.message.model).toBe("<synthetic>");
    } else {
      expect(last).toMatchObject({ errors: ["why it failed"] });
      expect(lines).toHaveLength(1);
    }
  });

  it("a prompt that could not be read is no answer of a model", () => {
    const error = failure("invalid_request", "stdin:2: it is not JSON");
    const lines = translate([init, turnStart(), turnEnd({ status: "error", steps: 0, error })]);
    expect(lines.at(-1)).toMatchObject({ subtype: "error_during_execution", errors: [error.message] });
  });

  it("the exit code is that of the last turn", () => {
    const format = streamJsonFormat({ settings: {}, partials: false });
    const failed = turnEnd({ status: "error", error: failure("rate_limit") });
    const play = (...bodies: EventBody[]) => stamped(bodies).forEach((event) => format.event(event));
    play(init, turnStart(1), failed);
    expect(format.exitCode?.()).toBe(1);
    play(turnStart(2), turnEnd());
    expect(format.exitCode?.()).toBe(0);
  });
});

describe("blocks", () => {
  it("thinking has a signature, arguments that are no JSON are {}, blocks without a type are left out", () => {
    const [line] = translate([
      message(
        { type: "thinking", thinking: "Hm." },
        { type: "tool_use", id: "t", name: "Bash", input: {}, invalid_json: "{" },
        { type: "other", raw: { type: "server_tool_use", id: "s" } },
        { type: "other", raw: { odd: true } },
      ),
    ]);
    expect(line?.message.content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "" },
      { type: "tool_use", id: "t", name: "Bash", input: {} },
      { type: "server_tool_use", id: "s" },
    ]);
  });

  it("an image of a result is one", () => {
    const image = { type: "image" as const, source: { type: "url" as const, url: "http://x/y.png" } };
    const [line] = translate([
      {
        type: "tool_end",
        step: 1,
        tool_use_id: "t",
        name: "Read",
        status: "ok",
        is_error: false,
        content: [{ type: "text", text: "here" }, image],
        duration_ms: 1,
        exit_code: null,
        truncated: false,
      },
    ]);
    expect(line?.message.content[0]).toMatchObject({
      type: "tool_result",
      is_error: false,
      content: [{ type: "text", text: "here" }, image],
    });
  });
});

describe("partial messages", () => {
  it("what a retry voids is ended, and the message that counts has an id of its own", () => {
    const retry: EventBody = {
      type: "retry",
      step: 1,
      attempt: 1,
      max_attempts: 7,
      delay_ms: 10,
      error: failure("overloaded", "busy", 529),
      discards_partial: true,
      usage: null,
    };
    const lines = translate(
      [
        stepStart(),
        text(0, "no"),
        retry,
        stepStart(2),
        text(0, "yes"),
        message({ type: "text", text: "yes" }),
      ],
      true,
    );
    const kinds = raw(lines).map(({ type }) => type);
    expect(kinds.filter((kind) => kind === "message_start")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "message_stop")).toHaveLength(2);
    expect(lines.find(({ subtype }) => subtype === "api_retry")).toMatchObject({
      attempt: 1,
      max_retries: 6,
      error_status: 529,
      error: "overloaded",
    });
    const from = lines.findIndex(({ subtype }) => subtype === "api_retry");
    expect(streamed(lines.slice(from))).toBe("yes");
  });

  it("blocks without deltas are there too, signatures included", () => {
    const lines = translate(
      [
        stepStart(),
        message(
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "redacted_thinking", data: "x" },
          { type: "tool_use", id: "t", name: "Bash", input: { command: "ls" } },
        ),
      ],
      true,
    );
    const deltas = raw(lines).flatMap(({ delta }) => (delta?.type ? [delta] : []));
    expect(deltas).toEqual([
      { type: "thinking_delta", thinking: "Hm." },
      { type: "signature_delta", signature: "c2ln" },
      { type: "input_json_delta", partial_json: '{"command":"ls"}' },
    ]);
  });

  it("the texts joined are those of the message, whatever is interleaved and however it merges; all that begins is ended", () => {
    const piece = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
    const delta = fc.tuple(fc.integer({ min: 0, max: 2 }), piece, fc.boolean());
    fc.assert(
      fc.property(fc.array(delta, { maxLength: 40 }), fc.boolean(), (deltas, interleaved) => {
        const ordered = interleaved ? deltas : deltas.toSorted(([a], [b]) => a - b);
        const merge = new Merge();
        const bodies = ordered.flatMap(([block, words, flush]) => [
          ...merge.add(text(block, words)),
          ...(flush ? merge.flush() : []),
        ]);
        const joined = (index: number) => ordered.map(([block, w]) => (block === index ? w : "")).join("");
        const content = [0, 1, 2].map((index) => ({ type: "text" as const, text: joined(index) }));
        const lines = translate([stepStart(), ...bodies, ...merge.add(message(...content))], true);
        expectWellFormed(lines);
        const words = ordered.map(([, w]) => w).join("");
        expect(streamed(lines)).toBe(words);
        if (!interleaved) expect(streamed(lines)).toBe(textOf(lines));
      }),
    );
  });
});

/** Blocks begin in the order of their numbers, take deltas only while they are open, and end, before their message does. */
function expectWellFormed(lines: readonly ClientLine[]): void {
  const open = new Set<number | undefined>();
  let begun = 0;
  for (const { type, index } of raw(lines)) {
    if (type === "content_block_start") {
      expect(index).toBe(begun);
      begun += 1;
      open.add(index);
    }
    if (type === "content_block_delta") expect(open).toContain(index);
    if (type === "content_block_stop") expect(open.delete(index)).toBe(true);
    if (type === "message_stop") expect(open.size).toBe(0);
  }
  expect(raw(lines).at(0)?.type).toBe("message_start");
  expect(raw(lines).at(-1)?.type).toBe("message_stop");
}
