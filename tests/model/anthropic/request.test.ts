import { describe, expect, it } from "vitest";
import { toBody } from "../../../src/model/anthropic/request.ts";
import type { Message, ModelRequest } from "../../../src/model/client.ts";
import { assistant, call, result, text, user, request } from "../../support/model-calls.ts";

const cache_control = { type: "ephemeral" };

function messages(...given: Message[]) {
  return toBody(request({ messages: given })).messages;
}

describe("the request", () => {
  it("is the least that a call needs", () => {
    expect(toBody(request())).toEqual({
      model: "model-test",
      max_tokens: 1000,
      stream: true,
      thinking: { type: "disabled" },
      messages: [{ role: "user", content: [{ ...text("hi"), cache_control }] }],
    });
  });

  it.each<[Partial<ModelRequest>, object]>([
    [{ thinking: "summarized" }, { thinking: { type: "adaptive", display: "summarized" } }],
    [{ thinking: "omitted" }, { thinking: { type: "adaptive", display: "omitted" } }],
    [{ effort: "xhigh" }, { output_config: { effort: "xhigh" } }],
    [{ system: "Be brief" }, { system: [{ ...text("Be brief"), cache_control }] }],
  ])("%j", (changes, expected) => {
    expect(toBody(request(changes))).toMatchObject(expected);
  });

  it("streams every tool's arguments eagerly, and marks the last for the cache", () => {
    const inputSchema = { type: "object", properties: { a: { type: "string" } } };
    const tools = ["A", "B"].map((name) => ({ name, description: `does ${name}`, inputSchema }));
    expect(toBody(request({ tools })).tools).toEqual([
      { name: "A", description: "does A", input_schema: inputSchema, eager_input_streaming: true },
      {
        name: "B",
        description: "does B",
        input_schema: inputSchema,
        eager_input_streaming: true,
        cache_control,
      },
    ]);
  });

  it("marks the last two user messages, at their last block", () => {
    const turns = messages(
      user(text("1")),
      assistant(call("a")),
      user(result("a")),
      assistant(text("x")),
      user(text("2"), text("3")),
    );
    const isMarked = turns.map(({ content }) =>
      typeof content === "string" ? [] : content.map((block) => "cache_control" in block),
    );
    expect(isMarked).toEqual([[false], [false], [true], [false], [false, true]]);
  });
});

describe("the history", () => {
  it("FR-06: is well-formed whatever it holds", () => {
    const body = JSON.stringify(
      messages(
        user(text("a\ud800")),
        assistant({ ...call("a"), input: { "\udc00": "\ud83e" } }),
        user(result("a", "\udfff")),
      ),
    );
    expect(body).not.toMatch(/\\ud[89a-f]/i);
  });

  it("leaves out blank texts, and messages without content", () => {
    const turns = messages(
      user(text("1")),
      assistant(text(""), text(" \n")),
      user(text("")),
      user(text("2")),
    );
    expect(turns).toEqual([{ role: "user", content: [text("1"), { ...text("2"), cache_control }] }]);
  });

  it("merges neighbouring user messages, tool results first", () => {
    const turns = messages(
      user(text("1")),
      assistant(call("a"), call("b")),
      user(text("also")),
      user(result("a"), result("b")),
    );
    expect(turns[2]).toEqual({
      role: "user",
      content: [result("a"), result("b"), { ...text("also"), cache_control }],
    });
  });

  it("sends a result without content as the provider takes it", () => {
    const [, , turn] = messages(
      user(text("1")),
      assistant(call("a"), call("b")),
      user(result("a", ""), result("b", "", true)),
    );
    expect(turn?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "a", is_error: false },
      { tool_use_id: "b", is_error: true, content: "(no message)" },
    ]);
    expect(turn?.content[0]).not.toHaveProperty("content");
  });

  it("gives thinking back with its signature, and none without", () => {
    const thinking = { type: "thinking", thinking: "Hm" } as const;
    const redacted = { type: "redacted_thinking", data: "xyz" } as const;
    const [, turn] = messages(
      user(text("1")),
      assistant({ ...thinking, signature: "s" }, thinking, redacted),
    );
    expect(turn?.content).toEqual([{ ...thinking, signature: "s" }, redacted]);
  });

  it("gives unknown blocks back unchanged, and calls without their mark", () => {
    const raw = { type: "new_block", deep: { a: [1] } };
    const unusable = { type: "tool_use", id: "a", name: "Bash", input: {}, invalid_json: '{"a' } as const;
    const [, turn] = messages(
      user(text("1")),
      assistant({ type: "other", raw }, unusable),
      user(result("a")),
    );
    expect(turn?.content).toEqual([raw, { type: "tool_use", id: "a", name: "Bash", input: {} }]);
  });
});

describe("a history made under another provider", () => {
  it("its ids and names of calls are spelled as this one takes them, and stay one another's", () => {
    const foreign = { ...call("functions.Bash:0"), name: "functions.Bash" };
    const [, turn, results] = messages(
      user(text("1")),
      assistant(foreign, call("functions_Bash_0"), call("")),
      user(result("functions.Bash:0"), result("functions_Bash_0"), result("")),
    );
    const calls = ["functions_Bash_0", "functions_Bash_0_2", "call"];
    expect(turn?.content).toMatchObject(calls.map((id) => ({ type: "tool_use", id })));
    expect(turn?.content[0]).toMatchObject({ name: "functions_Bash" });
    expect(results?.content).toMatchObject(calls.map((tool_use_id) => ({ tool_use_id })));
  });
});
