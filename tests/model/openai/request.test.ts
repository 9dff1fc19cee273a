import { describe, expect, it } from "vitest";
import { toBody } from "../../../src/model/openai/request.ts";
import { habitsOf } from "../../../src/model/openai/habits.ts";
import { createOpenAIClient } from "../../../src/model/openai/client.ts";
import type { Message, ModelRequest } from "../../../src/model/client.ts";
import { chatAnswer, type FakeAnswer } from "../../../src/testing/index.ts";
import {
  assistant,
  call,
  result,
  text,
  user,
  collect,
  request,
  withProvider,
} from "../../support/model-calls.ts";
import { BASH, KEY } from "./support.ts";

const LOCAL = "http://127.0.0.1:8000/v1";
const HELLO = chatAnswer().text("Hello").done();

const bodyOf = (changes: Partial<ModelRequest> = {}, baseURL = LOCAL) =>
  toBody(request(changes), habitsOf(baseURL));
const messages = (...given: Message[]) => bodyOf({ messages: given }).messages;
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } } as const;
const callParam = (id: string, name = "Bash") => ({
  id,
  type: "function",
  function: { name, arguments: '{"command":"ls"}' },
});

describe("the request", () => {
  it("is the least that a call needs", () => {
    expect(bodyOf()).toEqual({
      model: "model-test",
      max_tokens: 1000,
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: "none",
      messages: [{ role: "user", content: "hi" }],
    });
  });

  it.each<[Partial<ModelRequest>, object]>([
    [
      { system: "Be brief" },
      {
        messages: [
          { role: "system", content: "Be brief" },
          { role: "user", content: "hi" },
        ],
      },
    ],
    [{ effort: "xhigh", thinking: "off" }, { reasoning_effort: "xhigh" }],
    [
      { tools: [BASH] },
      {
        tools: [
          {
            type: "function",
            function: { name: "Bash", description: "runs", parameters: { type: "object" } },
          },
        ],
      },
    ],
  ])("%j", (changes, expected) => {
    expect(bodyOf(changes)).toMatchObject(expected);
  });

  it("asks for no effort where none was named", () => {
    expect(bodyOf({ thinking: "summarized" })).not.toHaveProperty("reasoning_effort");
  });

  it.each([
    ["https://api.openai.com/v1", "max_completion_tokens"],
    ["https://eu.api.openai.com/v1", "max_completion_tokens"],
    ["https://me.openai.azure.com/openai/v1", "max_completion_tokens"],
    ["https://openrouter.ai/api/v1", "max_tokens"],
    ["https://notopenai.com/v1", "max_tokens"],
  ])("%s gets %s", (baseURL, name) => {
    expect(bodyOf({}, baseURL)).toHaveProperty(name, 1000);
  });
});

describe("the history", () => {
  it("has results as messages of their own, at once behind their calls, in order", () => {
    expect(
      messages(
        user(text("1")),
        assistant(text("I look"), call("a"), call("b")),
        user(text("also"), result("a"), result("b", "no", true)),
      ),
    ).toEqual([
      { role: "user", content: "1" },
      { role: "assistant", content: "I look", tool_calls: [callParam("a"), callParam("b")] },
      { role: "tool", tool_call_id: "a", content: "out" },
      { role: "tool", tool_call_id: "b", content: "Error: no" },
      { role: "user", content: "also" },
    ]);
  });

  it("has the image of a result behind the results, from the user", () => {
    const picture = { ...result("a"), content: [text("a chart"), image] };
    expect(
      messages(user(text("1")), assistant(call("a"), call("b")), user(picture, result("b"))).slice(2),
    ).toEqual([
      { role: "tool", tool_call_id: "a", content: "a chart" },
      { role: "tool", tool_call_id: "b", content: "out" },
      {
        role: "user",
        content: [
          text("Image of the tool result a:"),
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ]);
  });

  it("has a prompt's images where they stood", () => {
    const linked = { type: "image", source: { type: "url", url: "https://x.test/a.png" } } as const;
    expect(messages(user(text("look"), linked, text("here")))).toEqual([
      {
        role: "user",
        content: [
          text("look"),
          { type: "image_url", image_url: { url: "https://x.test/a.png" } },
          text("here"),
        ],
      },
    ]);
  });

  it("leaves out what is empty, and says what stands together as one", () => {
    const empty = { ...result("a"), content: [] };
    expect(messages(user(text("1")), assistant(text(" \n")), user(text("")), user(text("2")))).toEqual([
      { role: "user", content: "1\n\n2" },
    ]);
    expect(
      messages(user(text("1")), assistant(call("a"), call("b")), user(empty, result("b", "", true))).slice(2),
    ).toEqual([
      { role: "tool", tool_call_id: "a", content: "(no text)" },
      { role: "tool", tool_call_id: "b", content: "Error (no message)" },
    ]);
  });

  it("FR-06: is well-formed whatever it holds", () => {
    const given = messages(
      user(text("a\ud800")),
      assistant({ ...call("a"), input: { "\udc00": "\ud83e" } }),
      user(result("a", "\udfff")),
    );
    expect(JSON.stringify(given)).not.toMatch(/\\ud[89a-f]/i);
  });

  it("made under another provider loses what that one alone understands", () => {
    const signed = { type: "thinking", thinking: "Hm", signature: "s" } as const;
    const redacted = { type: "redacted_thinking", data: "xyz" } as const;
    const other = { type: "other", raw: { type: "server_tool_use" } } as const;
    expect(
      messages(user(text("1")), assistant(signed, redacted, other, call("toolu_1")), user(result("toolu_1"))),
    ).toEqual([
      { role: "user", content: "1" },
      { role: "assistant", content: null, tool_calls: [callParam("toolu_1")] },
      { role: "tool", tool_call_id: "toolu_1", content: "out" },
    ]);
    expect(messages(user(text("1")), assistant(signed), user(text("2")))).toEqual([
      { role: "user", content: "1\n\n2" },
    ]);
  });

  it("names and ids of calls are spelled as servers take them, and stay one another's", () => {
    const long = "x".repeat(50);
    const turns = messages(
      user(text("1")),
      assistant(call("functions.Bash:0", "functions.Bash"), call(`${long}1`), call(`${long}2`, "")),
      user(result("functions.Bash:0"), result(`${long}1`), result(`${long}2`)),
    );
    const ids = ["functions_Bash_0", "x".repeat(40), `${"x".repeat(38)}_2`];
    expect(turns.slice(1)).toMatchObject([
      {
        tool_calls: [
          callParam(String(ids[0]), "functions_Bash"),
          callParam(String(ids[1])),
          callParam(String(ids[2]), "unknown"),
        ],
      },
      ...ids.map((id) => ({ role: "tool", tool_call_id: id })),
    ]);
  });

  it("a call whose arguments were no JSON goes back without them", () => {
    const unusable = { ...call("a"), input: {}, invalid_json: '{"a' };
    expect(messages(user(text("1")), assistant(unusable), user(result("a")))[1]).toMatchObject({
      tool_calls: [{ function: { arguments: "{}" } }],
    });
  });

  it("shows the thinking before calls to whom it came from, and none to OpenAI", () => {
    const given = [
      user(text("1")),
      assistant({ type: "thinking", thinking: "Hm" }, call("a")),
      user(result("a")),
    ];
    expect(messages(...given)[1]).toMatchObject({ reasoning_content: "Hm" });
    expect(bodyOf({ messages: given }, "https://openrouter.ai/api/v1")).toMatchObject({
      messages: [{}, { reasoning: "Hm" }, {}],
    });
    expect(JSON.stringify(bodyOf({ messages: given }, "https://api.openai.com/v1"))).not.toContain("Hm");
  });
});

describe("what a server refuses", () => {
  const refusal = (message: string, status = 400): FakeAnswer => ({
    status,
    body: { error: { message, type: "invalid_request_error" } },
  });

  /** The bodies of two calls on one client, and how they ended. */
  async function twoCalls(answers: readonly (FakeAnswer | string)[], changes: Partial<ModelRequest> = {}) {
    return withProvider(answers, async ({ url, requests }) => {
      const client = createOpenAIClient({ apiKey: KEY, baseURL: `${url}/v1` });
      const one = () => collect(client.stream(request(changes), new AbortController().signal));
      const outcomes = [await one(), await one()];
      return { outcomes, bodies: requests.map(({ body }) => body as Record<string, unknown>) };
    });
  }

  it("the name of the limit: the other is tried once, and remembered", async () => {
    const unsupported =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const { outcomes, bodies } = await twoCalls([refusal(unsupported), HELLO]);
    expect(outcomes.map(({ text }) => text)).toEqual(["Hello", "Hello"]);
    expect(
      bodies.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens]),
    ).toEqual([
      [1000, undefined],
      [undefined, 1000],
      [undefined, 1000],
    ]);
  });

  const TOO_LARGE = [
    "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
  ];
  const NO_ROOM = [
    "This model's maximum context length is 8192 tokens. However, you requested 32568 tokens (568 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
    "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 4096 tokens and your request has 20 input tokens (32000 > 4096 - 20).",
  ];

  it.each([
    ...TOO_LARGE.map((message) => [message, [1000, undefined, undefined]] as const),
    // Another conversation may have room.
    ...NO_ROOM.map((message) => [message, [1000, undefined, 1000]] as const),
  ])("a limit beyond what the model can do is left out: %s", async (message, limits) => {
    const { outcomes, bodies } = await twoCalls([refusal(message), HELLO]);
    expect(outcomes.map(({ text }) => text)).toEqual(["Hello", "Hello"]);
    expect(bodies.map(({ max_tokens }) => max_tokens)).toEqual(limits);
    expect(bodies.filter((body) => "max_completion_tokens" in body)).toEqual([]);
  });

  it("a prompt that is too long without a limit too is a context overflow", async () => {
    const { outcomes, bodies } = await twoCalls([refusal(String(NO_ROOM[0]))]);
    expect(outcomes.map(({ error }) => error?.code)).toEqual(["context_overflow", "context_overflow"]);
    expect(bodies).toHaveLength(4);
  });

  it("being asked for usage", async () => {
    const detail = [
      { type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" },
    ];
    const { outcomes, bodies } = await twoCalls([{ status: 422, body: { detail } }, HELLO]);
    expect(outcomes.map(({ text }) => text)).toEqual(["Hello", "Hello"]);
    expect(bodies.map((body) => "stream_options" in body)).toEqual([true, false, false]);
  });

  it("thinking that goes back", async () => {
    const given = [
      user(text("1")),
      assistant({ type: "thinking", thinking: "Hm" }, call("a")),
      user(result("a")),
    ];
    const { outcomes, bodies } = await twoCalls(
      [refusal("'messages.1' : property 'reasoning_content' is unsupported"), HELLO],
      { messages: given },
    );
    expect(outcomes.map(({ text }) => text)).toEqual(["Hello", "Hello"]);
    expect(bodies.map((body) => JSON.stringify(body).includes("Hm"))).toEqual([true, false, false]);
  });

  it("everything, and then some, is an error after as many tries as there are parts", async () => {
    const everything = refusal(
      "unknown: stream_options, reasoning_content, max_tokens, max_completion_tokens",
    );
    const { outcomes, bodies } = await twoCalls([everything]);
    expect(outcomes.map(({ error }) => error?.code)).toEqual(["invalid_request", "invalid_request"]);
    expect(bodies).toHaveLength(6);
  });

  it("nothing of it: one request, one error", async () => {
    const { outcomes, bodies } = await twoCalls([refusal("messages: bad"), refusal("no", 401)]);
    expect(outcomes.map(({ error }) => error?.code)).toEqual(["invalid_request", "authentication"]);
    expect(bodies).toHaveLength(2);
  });
});

describe("where it goes", () => {
  it.each([
    ["/v1", "/v1/chat/completions"],
    ["/v1/", "/v1/chat/completions"],
    ["", "/chat/completions"],
    ["/v1/chat/completions", "/v1/chat/completions"],
    ["/openai/v1?api-version=preview", "/openai/v1/chat/completions?api-version=preview"],
  ])("base path %s: %s", async (path, expected) => {
    await withProvider([HELLO], async ({ url, requests }) => {
      const client = createOpenAIClient({ apiKey: KEY, baseURL: url + path });
      await collect(client.stream(request(), new AbortController().signal));
      expect(requests[0]).toMatchObject({
        method: "POST",
        url: expected,
        headers: { authorization: `Bearer ${KEY}` },
      });
    });
  });

  it("without a key there is no authorization header", async () => {
    await withProvider([HELLO], async ({ url, requests }) => {
      await collect(createOpenAIClient({ baseURL: url }).stream(request(), new AbortController().signal));
      expect(requests[0]?.headers).not.toHaveProperty("authorization");
    });
  });
});
