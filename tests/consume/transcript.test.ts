import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Transcript, type StreamItem } from "../../src/consume/index.ts";
import type { EventBody, EventBodyOf, LinefeedEvent } from "../../src/protocol/event.ts";
import type { ErrorInfo } from "../../src/protocol/errors.ts";
import { arriving } from "../support/cut.ts";
import { init, linesOf, notice, result, stamped } from "./support.ts";

const usage = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  output_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});
const turnStart = (turn: number, prompt = "hi"): EventBody => ({ type: "turn_start", turn, prompt });
const stepStart = (step: number, attempt = 1): EventBody => ({
  type: "step_start",
  turn: 1,
  step,
  attempt,
  model: "m",
});
const text = (piece: string, block = 0, step = 1): EventBody => ({
  type: "text_delta",
  step,
  block,
  text: piece,
});
const thinking = (piece: string, block = 0): EventBody => ({
  type: "thinking_delta",
  step: 1,
  block,
  text: piece,
});
const input = (partial_json: string, block = 1, tool_use_id = "t1"): EventBody => ({
  type: "tool_input_delta",
  step: 1,
  block,
  tool_use_id,
  name: "Bash",
  partial_json,
});
const message = (content: EventBodyOf<"message">["content"], step = 1): EventBodyOf<"message"> => ({
  type: "message",
  turn: 1,
  step,
  id: "m1",
  role: "assistant",
  model: "m",
  content,
  stop_reason: "end_turn",
  usage: usage(10, 5),
  request_id: null,
});
const stepEnd = (status: "ok" | "error" = "ok", step = 1): EventBody => ({
  type: "step_end",
  turn: 1,
  step,
  status,
  stop_reason: null,
  ttft_ms: null,
  duration_ms: 0,
});
const turnEnd = (total: ReturnType<typeof usage> | null, turn = 1): EventBody => ({
  type: "turn_end",
  turn,
  status: "ok",
  stop_reason: null,
  steps: 1,
  usage: total,
  duration_ms: 0,
  error: null,
});
const error: ErrorInfo = {
  code: "overloaded",
  message: "try later",
  http_status: 529,
  retryable: true,
  provider: "anthropic",
  request_id: null,
};
const retry = (tokens: ReturnType<typeof usage> | null = null): EventBody => ({
  type: "retry",
  step: 1,
  attempt: 1,
  max_attempts: 3,
  delay_ms: 0,
  error,
  discards_partial: true,
  usage: tokens,
});
const bash = { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } } as const;
const toolEnd: EventBody = {
  type: "tool_end",
  step: 1,
  tool_use_id: "t1",
  name: "Bash",
  status: "ok",
  is_error: false,
  content: "a\n",
  duration_ms: 3,
  exit_code: 0,
  truncated: false,
};

function fold(items: Iterable<StreamItem>): Transcript {
  const transcript = new Transcript();
  for (const item of items) transcript.apply(item);
  return transcript;
}
const foldBodies = (...bodies: EventBody[]) => fold(stamped(bodies));
const kinds = ({ faults }: Transcript) => faults.map(({ kind }) => kind);

describe("what the model says", () => {
  it("DM-06: grows with its deltas and is the message in the end, once", () => {
    const transcript = foldBodies(init, turnStart(1), stepStart(1), thinking("hm"), text("Hel", 1));
    expect(transcript).toMatchObject({ status: "running", text: "Hel", thinking: "hm", sessionId: "s" });
    for (const event of stamped(
      [
        text("lo", 1),
        message([
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Hello" },
        ]),
      ],
      6,
    )) {
      transcript.apply(event);
    }
    expect(transcript).toMatchObject({ text: "Hello", thinking: "hm", faults: [] });
  });

  it("DM-05: is what was said when a model call was broken off and tried again", () => {
    const transcript = foldBodies(init, turnStart(1), stepStart(1), text("Wro"), retry(usage(3, 1)));
    expect(transcript.text).toBe("");
    expect(transcript.turn?.steps[0]).toMatchObject({ status: "retrying", attempt: 1 });
    const rest = [
      stepStart(1, 2),
      text("Right"),
      message([{ type: "text", text: "Right" }]),
      stepEnd(),
      turnEnd(usage(13, 6)),
    ];
    for (const event of stamped(rest, 6)) transcript.apply(event);
    expect(transcript).toMatchObject({
      text: "Right",
      usage: usage(13, 6),
      usageByModel: { m: usage(13, 6) },
      faults: [],
    });
    expect(transcript.turn?.steps).toHaveLength(1);
    expect(transcript.turn?.steps[0]).toMatchObject({ attempt: 2, retries: [{ error }] });
  });

  it("is nothing when the step failed", () => {
    const transcript = foldBodies(
      init,
      turnStart(1),
      stepStart(1),
      text("Wro"),
      input("{"),
      stepEnd("error"),
    );
    expect(transcript).toMatchObject({ text: "", calls: [], faults: [] });
    expect(transcript.history).toEqual([{ role: "user", content: [{ type: "text", text: "hi" }] }]);
  });

  it("CO-15: two deltas with the same text are two", () => {
    expect(
      foldBodies(
        init,
        turnStart(1),
        stepStart(1),
        text("ha"),
        text("ha"),
        message([{ type: "text", text: "haha" }]),
      ),
    ).toMatchObject({ text: "haha", faults: [] });
  });

  it.each([
    ["a delta too few", [text("Hel")], [{ type: "text", text: "Hello" }]],
    ["a delta too many", [text("Hello"), text("!")], [{ type: "text", text: "Hello" }]],
    ["a block too many", [text("Hello"), text("!", 1)], [{ type: "text", text: "Hello" }]],
    [
      "a block that is missing",
      [text("Hello")],
      [
        { type: "text", text: "Hello" },
        { type: "text", text: "!" },
      ],
    ],
    ["text for thinking", [text("Hello")], [{ type: "thinking", thinking: "Hello" }]],
    ["other arguments", [input('{"command":"l"}', 0)], [bash]],
  ] as const)("a message that is not what its deltas said is found: %s", (_, deltas, content) => {
    const transcript = foldBodies(init, turnStart(1), stepStart(1), ...deltas, message([...content]));
    expect(transcript.faults).toMatchObject([{ kind: "mismatch", seq: 4 + deltas.length }]);
    expect(transcript.turn?.steps[0]?.message?.content).toEqual(content);
  });

  it("so is a delta that comes after it", () => {
    const transcript = foldBodies(
      init,
      turnStart(1),
      stepStart(1),
      message([{ type: "text", text: "x" }]),
      text("y"),
    );
    expect(kinds(transcript)).toEqual(["mismatch"]);
    expect(transcript.text).toBe("x");
  });

  it("a message without any deltas is fine: --no-deltas", () => {
    expect(
      kinds(foldBodies(init, turnStart(1), stepStart(1), message([{ type: "text", text: "x" }]))),
    ).toEqual([]);
  });
});

describe("tool calls", () => {
  it("show their arguments as far as they are written, then run and end", () => {
    const transcript = foldBodies(
      init,
      turnStart(1),
      stepStart(1),
      text("I look."),
      input('{"comm'),
      input('and":"l'),
    );
    const [call] = transcript.calls;
    expect(call).toMatchObject({
      id: "t1",
      name: "Bash",
      step: 1,
      status: "writing",
      input: { command: "l" },
    });
    const further: [EventBody, object][] = [
      [input('s"}'), { status: "writing", input: { command: "ls" } }],
      [
        message([{ type: "text", text: "I look." }, bash]),
        { status: "asked", input: { command: "ls" }, summary: null },
      ],
      [
        {
          type: "tool_start",
          step: 1,
          tool_use_id: "t1",
          name: "Bash",
          input: { command: "ls" },
          summary: "ls",
        },
        { status: "running", summary: "ls" },
      ],
      [{ type: "tool_output_delta", tool_use_id: "t1", stream: "stdout", text: "a" }, { outputText: "a" }],
      [
        { type: "tool_output_delta", tool_use_id: "t1", stream: "stdout", text: "\n" },
        { output: [{ stream: "stdout", text: "a\n" }] },
      ],
      [
        { type: "tool_output_delta", tool_use_id: "t1", stream: "stderr", text: "b" },
        { outputText: "a\nb", content: null, end: null },
      ],
      [toolEnd, { status: "ok", content: "a\n", end: { duration_ms: 3 } }],
    ];
    for (const [index, [body, expected]] of further.entries()) {
      for (const event of stamped([body], 7 + index)) transcript.apply(event);
      expect(call).toMatchObject(expected);
    }
    expect(transcript.calls).toEqual([call]);
    expect(transcript.faults).toEqual([]);
  });

  it("stand in the model's order, those that never began too", () => {
    const other = { ...bash, id: "t2" };
    const denied: EventBody = { ...toolEnd, status: "denied", is_error: true, content: "no" };
    const transcript = foldBodies(init, turnStart(1), stepStart(1), message([bash, other]), denied);
    expect(transcript.calls.map(({ id, status }) => [id, status])).toEqual([
      ["t1", "denied"],
      ["t2", "asked"],
    ]);
    expect(transcript.history).toEqual([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [bash, other] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "no", is_error: true }] },
    ]);
  });

  it("written by an attempt that failed are void", () => {
    const transcript = foldBodies(
      init,
      turnStart(1),
      stepStart(1),
      input("{", 0, "old"),
      retry(),
      stepStart(1, 2),
    );
    expect(transcript.calls).toEqual([]);
  });

  it("with arguments that are no JSON are as they were written", () => {
    const cut = { ...bash, input: {}, invalid_json: '{"command":"ls' };
    const transcript = foldBodies(
      init,
      turnStart(1),
      stepStart(1),
      input('{"command":"ls', 0),
      message([cut]),
    );
    expect(transcript).toMatchObject({ faults: [], calls: [{ input: {} }] });
  });
});

describe("the sequence", () => {
  const events = stamped([init, turnStart(1), stepStart(1), ...Array.from({ length: 57 }, () => text("x"))]);

  it("CO-15: a line with a number that was there before changes nothing", () => {
    const transcript = fold(events.slice(0, 50));
    for (const event of events.slice(40)) expect(transcript.apply(event)).toBe(event.seq > 50);
    expect(transcript).toMatchObject({ text: "x".repeat(57), faults: [] });
  });

  it("a jump is a gap, and the message is not held against the deltas that are missing", () => {
    const transcript = fold([...events.slice(0, 10), ...events.slice(20, 30)]);
    for (const event of stamped([message([{ type: "text", text: "x".repeat(57) }])], 31))
      transcript.apply(event);
    expect(transcript.faults).toEqual([{ kind: "gap", message: "lines 11 to 20 are missing", seq: 21 }]);
  });

  it("a line out of order is left out and told from a repeat", () => {
    const transcript = fold([
      ...events.slice(0, 10),
      ...events.slice(12, 15),
      ...events.slice(10, 11),
      ...events.slice(0, 3),
    ]);
    expect(kinds(transcript)).toEqual(["gap", "out_of_order"]);
    expect(transcript.text).toBe("x".repeat(10));
  });

  it("may begin anywhere, in the middle of a step too", () => {
    const transcript = fold(events.slice(40));
    expect(transcript).toMatchObject({ status: "running", text: "x".repeat(20), faults: [] });
    expect(transcript.turn).toMatchObject({ turn: null, prompt: null });
    const rest = [
      message([{ type: "text", text: "x".repeat(57) }, bash]),
      toolEnd,
      stepEnd(),
      turnEnd(usage(99, 9)),
      result,
    ];
    for (const event of stamped(rest, 61)) transcript.apply(event);
    transcript.end();
    expect(transcript).toMatchObject({
      status: "ok",
      text: "x".repeat(57),
      calls: [{ status: "ok" }],
      faults: [],
    });
  });

  it("another session is reported", () => {
    const other = events.map((event): LinefeedEvent => ({ ...event, session_id: "other" }));
    expect(kinds(fold([...events, ...other]))).toEqual(["other_session", "missing_result"]);
  });

  it("unknown events count, invalid lines are faults", async () => {
    const [a, b, c] = stamped([init, notice("b"), result]).map((event) => linesOf([event]));
    const unknown = `${b}`.replace('"notice"', '"hologram"');
    const transcript = await Transcript.from(arriving([`${a}${unknown}oops\n${c}`]));
    expect(transcript.faults).toEqual([
      { kind: "invalid_line", message: expect.stringContaining("line 3: not JSON"), seq: null },
    ]);
    const newer = `${a}`.replace('"protocol":1', '"protocol":2');
    expect((await Transcript.from(arriving([`${newer}${b}${c}`]))).faults).toMatchObject([
      { kind: "invalid_line", message: expect.stringContaining("protocol 2 is newer"), seq: 1 },
    ]);
  });
});

describe("runs", () => {
  const run = (turn: number): EventBody[] => [
    { ...init, resumed: turn > 1 },
    turnStart(turn, `prompt ${turn}`),
    { type: "step_start", turn, step: turn, attempt: 1, model: "m" },
    text(`answer ${turn}`, 0, turn),
    { ...message([{ type: "text", text: `answer ${turn}` }], turn), turn },
    stepEnd("ok", turn),
    turnEnd(usage(10, 5), turn),
    { ...result, text: `answer ${turn}`, usage: usage(10, 5) },
  ];

  it("stand one after the other in a session's log", () => {
    const transcript = foldBodies(...run(1), ...run(2));
    transcript.end();
    expect(transcript).toMatchObject({ status: "ok", text: "answer 2", usage: usage(20, 10), faults: [] });
    expect(transcript.result?.usage).toEqual(usage(10, 5));
    expect(transcript.turns.map(({ prompt, text: said, usage: used }) => [prompt, said, used])).toEqual([
      ["prompt 1", "answer 1", usage(10, 5)],
      ["prompt 2", "answer 2", usage(10, 5)],
    ]);
    expect(transcript.history).toHaveLength(4);
  });

  it("CO-09: without a result, are broken off", () => {
    const transcript = foldBodies(...run(1).slice(0, -1), ...run(2).slice(0, -1));
    transcript.end();
    expect(transcript.status).toBe("broken_off");
    expect(kinds(transcript)).toEqual(["missing_result", "missing_result"]);
  });

  it("an empty stream holds none; the answer of --bg is no run", () => {
    const empty = new Transcript();
    empty.end();
    expect(empty).toMatchObject({ status: "broken_off", sessionId: null, text: "", usage: null, turn: null });
    expect(kinds(empty)).toEqual(["missing_result"]);
    const session = fold(stamped([{ type: "session", name: null, pid: 1, log: "/l" }], 0));
    session.end();
    expect(session).toMatchObject({ status: "waiting", sessionId: "s", faults: [] });
  });

  it("US-01, US-02: tokens that do not add up are found", () => {
    const bodies = run(1);
    const wrong = [...bodies.slice(0, -2), turnEnd(usage(11, 5)), { ...result, usage: usage(20, 10) }];
    expect(kinds(foldBodies(...wrong))).toEqual(["usage_mismatch", "usage_mismatch"]);
    const lost = stamped(wrong).filter((_, index) => index !== 3);
    expect(kinds(fold(lost))).toEqual(["gap"]);
  });

  it("words from the future are the status", () => {
    const [last] = stamped([result]);
    const later = { ...last, status: "bored" } as unknown as LinefeedEvent;
    expect(fold([later]).status).toBe("bored");
  });
});

describe("the streams in examples/", () => {
  const folder = "examples/streams";
  it.each(readdirSync(folder).filter((file) => file.endsWith(".jsonl")))(
    "%s keeps every promise",
    async (file) => {
      const transcript = await Transcript.from(join(folder, file), { onInvalid: "throw" });
      const last = JSON.parse(
        readFileSync(join(folder, file), "utf8").trimEnd().split("\n").at(-1) ?? "",
      ) as LinefeedEvent;
      expect(transcript.faults).toEqual([]);
      expect(transcript.result).toEqual(last);
      expect(transcript.status).toBe(transcript.result?.status);
      expect(transcript.usage).toEqual(transcript.result?.usage);
      if (transcript.result?.text !== null) expect(transcript.text).toBe(transcript.result?.text);
    },
  );
});
