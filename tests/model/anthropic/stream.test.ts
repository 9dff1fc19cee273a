import { describe, expect, it } from "vitest";
import { answer, sseEvent } from "../../../src/testing/index.ts";
import { ask } from "./support.ts";

const delta = (index: number, text: string) =>
  sseEvent({ type: "content_block_delta", index, delta: { type: "text_delta", text } });

describe("an answer", () => {
  it("becomes deltas, then the message", async () => {
    const stream = answer({ id: "msg_x", deltaSize: 3, pingEvery: 2 })
      .thinking("Let me see", "sig")
      .text("Hello ≤ 🦊")
      .toolUse("Bash", { command: "ls -l" })
      .done({ usage: { output_tokens: 42 } });
    const { chunks, done, text, thinking, toolInput, notices } = await ask(stream);
    expect([thinking, text, toolInput, notices]).toEqual([
      "Let me see",
      "Hello ≤ 🦊",
      '{"command":"ls -l"}',
      [],
    ]);
    expect(chunks.filter((chunk) => chunk.type === "tool_input")[0]).toEqual({
      type: "tool_input",
      block: 2,
      toolUseId: "toolu_x_1",
      name: "Bash",
      partialJson: '{"c',
    });
    expect(done).toEqual({
      type: "done",
      id: "msg_x",
      model: "claude-test",
      content: [
        { type: "thinking", thinking: "Let me see", signature: "sig" },
        { type: "text", text: "Hello ≤ 🦊" },
        { type: "tool_use", id: "toolu_x_1", name: "Bash", input: { command: "ls -l" } },
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

  it("may have no block at all", async () => {
    expect((await ask(answer().done())).done).toMatchObject({ content: [], stopReason: "end_turn" });
  });

  it("keeps what a block's start holds, as a delta too", async () => {
    const stream = answer()
      .block({ type: "text", text: "Hel" }, [{ type: "text_delta", text: "lo" }])
      .block({ type: "thinking", thinking: "Hm", signature: "s" })
      .block({ type: "redacted_thinking", data: "xyz" })
      .done();
    const { text, thinking, done } = await ask(stream);
    expect([text, thinking]).toEqual(["Hello", "Hm"]);
    expect(done?.content).toEqual([
      { type: "text", text: "Hello" },
      { type: "thinking", thinking: "Hm", signature: "s" },
      { type: "redacted_thinking", data: "xyz" },
    ]);
  });

  it("PR-16: comes as one delta of 2 MB", async () => {
    const text = "abcdefgh".repeat(262_144);
    const outcome = await ask(answer({ deltaSize: text.length }).text(text).done());
    expect(outcome.chunks).toHaveLength(2);
    expect(outcome.text === text).toBe(true);
  });

  it("FR-06: holds a lone surrogate, and the message is well-formed", async () => {
    const { done, text } = await ask(
      answer()
        .block({ type: "text", text: "" }, [
          { type: "text_delta", text: "a\ud83e" },
          { type: "text_delta", text: "\udd8ab\ud83e" },
        ])
        .done(),
    );
    expect(text).toBe("a🦊b\ud83e");
    expect(done?.content).toEqual([{ type: "text", text: "a🦊b\uFFFD" }]);
  });
});

describe("frames that do not belong to the answer", () => {
  it("PR-01: comments are ignored", async () => {
    const stream = `: OPENROUTER PROCESSING\n\n:\n\n${answer().raw(": keep-alive\n\n").text("Hello").raw(": cost 0.1\n\n").done()}`;
    expect(await ask(stream)).toMatchObject({ text: "Hello", notices: [], error: undefined });
  });

  it("PR-07: what follows the end is not read", async () => {
    const stream = `${answer().text("Hello").done()}data: [DONE]\n\ndata: nonsense\n\nevent: error\ndata: {}\n\n`;
    const { chunks, text, error } = await ask(stream);
    expect([text, error, chunks.at(-1)?.type]).toEqual(["Hello", undefined, "done"]);
  });

  it("an end mark of another protocol before the end is ignored", async () => {
    const { text, done } = await ask(answer().text("Hello").raw("data: [DONE]\n\n").done());
    expect([text, done?.stopReason]).toEqual(["Hello", "end_turn"]);
  });

  it("PR-08: events without a name count by the type inside", async () => {
    const stream = answer().thinking("Hm").text("Hello").done();
    const { done } = await ask(stream.replaceAll(/^event: .*\n/gm, ""));
    expect(done?.content).toMatchObject([{ thinking: "Hm" }, { text: "Hello" }]);
  });

  it("PR-09: a name without data is ignored", async () => {
    const { text, notices } = await ask(
      answer().raw("event: ping\n\nevent: x\ndata:\n\n").text("Hello").done(),
    );
    expect([text, notices]).toEqual(["Hello", []]);
  });

  it("PR-15: unknown events, unknown blocks and stray deltas cost one notice a kind", async () => {
    const web = { type: "web_search_tool_result", tool_use_id: "w", content: [{ url: "x" }] };
    const stray = sseEvent({
      type: "content_block_delta",
      index: 7,
      delta: { type: "input_json_delta", partial_json: "{}" },
    });
    const stream = answer()
      .text("Hello")
      .event({ type: "custom", secret: 1 })
      .raw(stray + stray)
      .block(web, [{ type: "new_delta" }])
      .event({ type: "another" })
      .raw("data: 7\n\n")
      .block({ type: "text", text: "" }, [
        { type: "citations_delta" },
        { type: "text_delta", text: " again" },
      ])
      .done();
    const { text, notices, done, error } = await ask(stream);
    expect([text, error]).toEqual(["Hello again", undefined]);
    expect(done?.content).toEqual([
      { type: "text", text: "Hello" },
      { type: "other", raw: web },
      { type: "text", text: " again" },
    ]);
    expect(notices.toSorted()).toEqual([
      "malformed_provider_frame",
      "malformed_provider_frame",
      "unknown_provider_event",
      "unknown_provider_event",
      "unknown_provider_event",
    ]);
  });

  it("PR-15: blocks are counted by their place, whatever indexes the provider gives", async () => {
    const start = (index: number) =>
      sseEvent({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
    const stream = answer()
      .raw(start(4) + delta(4, "a") + sseEvent({ type: "content_block_stop", index: 4 }) + delta(4, "late"))
      .raw(start(9) + delta(9, "b"))
      .done();
    const { chunks, done } = await ask(stream);
    expect(chunks.flatMap((chunk) => (chunk.type === "text" ? [[chunk.block, chunk.text]] : []))).toEqual([
      [0, "a"],
      [1, "b"],
    ]);
    expect(done?.content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });

  it("an unknown stop reason costs a notice", async () => {
    const stream = answer()
      .text("Hello")
      .event({ type: "message_delta", delta: { stop_reason: "tired" } })
      .event({ type: "message_stop" });
    const { done, notices } = await ask(stream.unfinished());
    expect([done?.stopReason, notices]).toEqual([null, ["unknown_provider_event"]]);
  });
});

describe("tool arguments", () => {
  it("TC-03: no text, or all in the block's start", async () => {
    const { done, toolInput } = await ask(
      answer()
        .toolUse("List", "")
        .block({ type: "tool_use", id: "t", name: "Bash", input: {} }, [
          { type: "input_json_delta", partial_json: "" },
        ])
        .block({ type: "tool_use", id: "u", name: "Bash", input: { command: "ls" } })
        .done(),
    );
    expect(done?.content).toMatchObject([{ input: {} }, { input: {} }, { input: { command: "ls" } }]);
    expect(toolInput).toBe('{"command":"ls"}');
  });

  it("TC-04: what is no JSON is marked, and the turn is kept", async () => {
    const { done, error } = await ask(answer().toolUse("Grep", '{"pattern":"\\d"}').done());
    expect(error).toBeUndefined();
    expect(done?.content).toMatchObject([{ input: {}, invalid_json: '{"pattern":"\\d"}' }]);
  });

  it("that a limit cut off are marked, even if they parse", async () => {
    const { done } = await ask(answer().toolUse("Write", '{"path":"a"}').done({ stopReason: "max_tokens" }));
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

  it("US-01: is said once, as the provider's last word", async () => {
    const inputUsage = {
      input_tokens: 100,
      output_tokens: 1,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 7,
    };
    const stream = answer({ inputUsage }).thinking("Hm").text("a").toolUse("A", {}).toolUse("B", {});
    const { done } = await ask(stream.done({ usage: { output_tokens: 55 } }));
    expect(done?.usage).toEqual({ ...inputUsage, output_tokens: 55 });
  });

  it("US-03: a later 0 or null does not overwrite a number", async () => {
    const start = { type: "message_start", message: { usage: { input_tokens: 100, output_tokens: 3 } } };
    const end = {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 0, cache_read_input_tokens: null, output_tokens: 9 },
    };
    const { done } = await ask([start, end, { type: "message_stop" }].map(sseEvent).join(""));
    expect(done?.usage).toEqual(total({ input_tokens: 100, output_tokens: 9 }));
  });

  it("is taken from wherever it is said, and is null if it is nowhere", async () => {
    const end = {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 8, output_tokens: 9 },
    };
    const stop = sseEvent({ type: "message_stop" });
    expect((await ask(sseEvent(end) + stop)).done?.usage).toEqual(
      total({ input_tokens: 8, output_tokens: 9 }),
    );
    expect((await ask(stop)).done?.usage).toBeNull();
    const silly = { type: "message_start", message: { usage: { input_tokens: -1, output_tokens: "many" } } };
    expect((await ask(sseEvent(silly) + stop)).done?.usage).toBeNull();
  });
});
