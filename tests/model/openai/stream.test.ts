import { describe, expect, it } from "vitest";
import { chatAnswer, chatChunk } from "../../../src/testing/index.ts";
import { ask } from "./support.ts";

describe("an answer", () => {
  it("becomes deltas, then the message", async () => {
    const stream = chatAnswer({ id: "chatcmpl-x", deltaSize: 3 })
      .thinking("Let me see")
      .text("Hello ≤ 🦊")
      .toolCall("Bash", { command: "ls -l" })
      .done({ usage: { completion_tokens: 42 } });
    const { chunks, done, text, thinking, toolInput, notices } = await ask(stream);
    expect([thinking, text, toolInput, notices]).toEqual([
      "Let me see",
      "Hello ≤ 🦊",
      '{"command":"ls -l"}',
      [],
    ]);
    expect(chunks.find((chunk) => chunk.type === "tool_input")).toEqual({
      type: "tool_input",
      block: 2,
      toolUseId: "call_chatcmpl-x_1",
      name: "Bash",
      partialJson: '{"c',
    });
    expect(done).toEqual({
      type: "done",
      id: "chatcmpl-x",
      model: "gpt-test",
      content: [
        { type: "thinking", thinking: "Let me see" },
        { type: "text", text: "Hello ≤ 🦊" },
        { type: "tool_use", id: "call_chatcmpl-x_1", name: "Bash", input: { command: "ls -l" } },
      ],
      stopReason: "tool_use",
      usage: {
        input_tokens: 10,
        output_tokens: 42,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
      requestId: "req_1",
    });
  });

  it("may say nothing at all", async () => {
    expect((await ask(chatAnswer().done())).done).toMatchObject({ content: [], stopReason: "end_turn" });
  });

  it("PR-16: comes as one delta of 2 MB", async () => {
    const text = "abcdefgh".repeat(262_144);
    const outcome = await ask(chatAnswer({ deltaSize: text.length }).text(text).done());
    expect(outcome.text === text).toBe(true);
  });

  it("FR-06: holds a lone surrogate, and the message is well-formed", async () => {
    const stream = chatAnswer().delta({ content: "a\ud83e" }).delta({ content: "\udd8ab\ud83e" }).done();
    const { done, text } = await ask(stream);
    expect(text).toBe("a🦊b\ud83e");
    expect(done?.content).toEqual([{ type: "text", text: "a🦊b\uFFFD" }]);
  });

  it("comes as a whole message in one chunk, which counts once", async () => {
    const message = { role: "assistant", content: "Hello", tool_calls: null };
    const whole = chatChunk({ id: "x", choices: [{ index: 0, message, finish_reason: "stop" }] });
    expect((await ask(whole)).text).toBe("Hello");
    expect((await ask(chatAnswer().text("Hello").unfinished() + whole)).text).toBe("Hello");
  });

  it("text behind a call is a block behind it, and thinking can come back", async () => {
    const stream = chatAnswer().text("a").toolCall("Bash", {}).text("b").thinking("c").text("d").done();
    expect((await ask(stream)).done?.content).toMatchObject([
      { text: "a" },
      { type: "tool_use" },
      { text: "b" },
      { thinking: "c" },
      { text: "d" },
    ]);
  });
});

describe("thinking", () => {
  it.each([
    ["reasoning_content", { reasoning_content: "Hm" }],
    ["reasoning", { reasoning: "Hm" }],
    ["both, which say the same", { reasoning: "Hm", reasoning_content: "Hm" }],
    ["details with text", { reasoning_details: [{ type: "reasoning.text", text: "Hm", index: 0 }] }],
    ["details with a summary", { reasoning_details: [{ type: "reasoning.summary", summary: "Hm" }] }],
    [
      "text and details",
      {
        reasoning: "Hm",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm" },
          { type: "reasoning.encrypted", data: "x" },
        ],
      },
    ],
    ["parts of the content", { content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }],
  ])("comes as %s", async (_, delta) => {
    const { thinking, text, done } = await ask(chatAnswer().delta(delta).text("Hello").done());
    expect([thinking, text]).toEqual(["Hm", "Hello"]);
    expect(done?.content).toEqual([
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Hello" },
    ]);
  });

  it("that nobody wants is a sign of life and nothing else", async () => {
    const stream = chatAnswer().thinking("Hm").text("Hello").done();
    const { chunks, done } = await ask(stream, {}, { thinking: "omitted" });
    expect(chunks.slice(0, 2)).toEqual([{ type: "progress" }, { type: "text", block: 0, text: "Hello" }]);
    expect(done?.content).toEqual([{ type: "text", text: "Hello" }]);
  });
});

describe("frames that do not belong to the answer", () => {
  it("PR-01: comments are ignored", async () => {
    const answer = chatAnswer().text("Hel").raw(": OPENROUTER PROCESSING\n\n").text("lo");
    const stream = `: OPENROUTER PROCESSING\n\n:\n\n${answer.done({ endMark: false })}: cost 0.1\n\n: cost 0.2\n\ndata: [DONE]\n\n`;
    expect(await ask(stream)).toMatchObject({ text: "Hello", notices: [], error: undefined });
  });

  it("PR-02, PR-03: chunks with empty choices, null ones, or none", async () => {
    const filter = { choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
    const stream = chatAnswer()
      .chunk(filter)
      .text("Hello")
      .raw(chatChunk({ object: "x", timings: { ms: 1 } }))
      .raw(chatChunk({ choices: null, error: null }))
      .done();
    expect(await ask(stream)).toMatchObject({ text: "Hello", notices: [], done: { stopReason: "end_turn" } });
  });

  it("PR-07: what follows the end is not read", async () => {
    const { text, error } = await ask(`${chatAnswer().text("Hello").done()}data: nonsense\n\n`);
    expect([text, error]).toEqual(["Hello", undefined]);
  });

  it("PR-09, PR-12, and `data:` without a space", async () => {
    const stream = chatAnswer().raw("event: ping\n\ndata:\n\n").text("Hello").done();
    expect((await ask(`\uFEFF${stream.replaceAll("data: ", "data:")}`)).text).toBe("Hello");
  });

  it("PR-15: no object, a stray piece of arguments, an unknown finish reason: a notice each", async () => {
    const stray = { tool_calls: [{ index: 7, function: { arguments: '{"a"' } }] };
    const stream = chatAnswer()
      .raw("data: 7\n\n")
      .delta(stray)
      .delta(stray)
      .text("Hello")
      .done({ finishReason: "tired" });
    const { text, notices, done } = await ask(stream);
    expect([text, done?.stopReason]).toEqual(["Hello", null]);
    expect(notices).toEqual([
      "malformed_provider_frame",
      "malformed_provider_frame",
      "unknown_provider_event",
    ]);
  });

  it("a second choice, that nobody asked for, is not read", async () => {
    const other = { choices: [{ index: 1, delta: { content: "other" }, finish_reason: "stop" }] };
    expect((await ask(chatAnswer().chunk(other).text("Hello").done())).text).toBe("Hello");
  });
});

describe("the end", () => {
  it.each([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
    ["tool_calls", "end_turn"],
  ])("finish reason %s is %s", async (finishReason, stopReason) => {
    const { done } = await ask(chatAnswer().text("Hello").done({ finishReason }));
    expect(done?.stopReason).toBe(stopReason);
  });

  it.each(["tool_calls", "stop", "function_call", null])(
    "of calls: finish reason %s",
    async (finishReason) => {
      const { done } = await ask(chatAnswer().toolCall("Bash", { command: "ls" }).done({ finishReason }));
      expect(done).toMatchObject({ stopReason: "tool_use", content: [{ input: { command: "ls" } }] });
    },
  );

  it("needs no end mark after a finish reason", async () => {
    const { done, error } = await ask(chatAnswer().text("Hello").done({ endMark: false }));
    expect([done?.stopReason, done?.usage?.output_tokens, error]).toEqual(["end_turn", 5, undefined]);
  });

  it("TE-02: comes too where the server says nothing more and keeps the connection open", async () => {
    const { done } = await ask({
      steps: [chatAnswer().text("Hello").done({ endMark: false }), { stall: true }],
    });
    expect(done).toMatchObject({ stopReason: "end_turn", content: [{ text: "Hello" }] });
  });

  it("a finish reason in every chunk ends nothing", async () => {
    const stream = chatAnswer().delta({ content: "Hel" }, "stop").delta({ content: "lo" }, "stop").done();
    expect((await ask(stream)).done).toMatchObject({ content: [{ text: "Hello" }] });
    const empty = chatAnswer().delta({ content: "Hello" }, "").done();
    expect((await ask(empty)).done?.stopReason).toBe("end_turn");
  });

  it("a refusal is text, and a refusal", async () => {
    const stream = chatAnswer().delta({ refusal: "I can" }).delta({ refusal: "not" }).done();
    const { done, text } = await ask(stream);
    expect([text, done?.stopReason]).toEqual(["I cannot", "refusal"]);
  });

  it("a call that the limit cut off is marked, even if it parses", async () => {
    const { done } = await ask(
      chatAnswer().toolCall("Write", '{"path":"a"}').done({ finishReason: "length" }),
    );
    expect(done).toMatchObject({
      stopReason: "max_tokens",
      content: [{ input: {}, invalid_json: '{"path":"a"}' }],
    });
  });
});

describe("usage", () => {
  const total = (usage: object) => ({
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    ...usage,
  });
  const usage = { prompt_tokens: 100, completion_tokens: 7 };

  it.each<[string, string]>([
    ["in a chunk of its own", chatAnswer().text("a").done({ usage })],
    [
      "in the last chunk",
      chatAnswer().text("a").delta({}, "stop", { usage }).raw("data: [DONE]\n\n").unfinished(),
    ],
    [
      "in a chunk without choices",
      chatAnswer().text("a").delta({}, "stop").raw(chatChunk({ usage })).unfinished(),
    ],
    [
      "in every chunk, with the numbers so far, and a 0 behind",
      chatAnswer()
        .delta({ content: "a" }, null, { usage: { prompt_tokens: 100, completion_tokens: 1 } })
        .delta({}, "stop", { usage })
        .chunk({ choices: [], usage: { prompt_tokens: 0, completion_tokens: null } })
        .unfinished(),
    ],
    [
      "in the choice",
      chatAnswer()
        .chunk({ choices: [{ delta: {}, finish_reason: "stop", usage }] })
        .unfinished(),
    ],
    ["under x_groq", chatAnswer().delta({}, "stop", { x_groq: { usage } }).unfinished()],
  ])("US-01, US-03: %s", async (_, stream) => {
    expect((await ask(stream)).done?.usage).toEqual(total({ input_tokens: 100, output_tokens: 7 }));
  });

  it("is null if it is nowhere", async () => {
    expect((await ask(chatAnswer().text("a").done({ usage: null }))).done?.usage).toBeNull();
  });

  it("the counts do not overlap, and the tokens of thinking are in", async () => {
    const cached = { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 } };
    expect((await ask(chatAnswer().done({ usage: { ...usage, ...cached } }))).done?.usage).toEqual(
      total({
        input_tokens: 30,
        output_tokens: 7,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 10,
      }),
    );
    const beside = { ...usage, total_tokens: 130, completion_tokens_details: { reasoning_tokens: 23 } };
    expect((await ask(chatAnswer().done({ usage: beside }))).done?.usage?.output_tokens).toBe(30);
    const hits = { ...usage, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 };
    expect((await ask(chatAnswer().done({ usage: hits }))).done?.usage).toMatchObject({
      cache_read_input_tokens: 64,
    });
  });
});
