import { describe, expect, it } from "vitest";
import { createOpenAIClient } from "../../../src/model/openai/client.ts";
import { chatAnswer, chatChunk, type FakeAnswer } from "../../../src/testing/index.ts";
import { collect, request } from "../../support/model-calls.ts";
import { ask, KEY } from "./support.ts";

const body = (message: string, type: string | null = null, code: string | number | null = null) => ({
  error: { message, type, code, param: null },
});
const HELLO = chatAnswer().text("Hello");

describe("EX-09, TE-04: an answer that is no success", () => {
  it.each<[number, unknown, string, boolean]>([
    [400, body("bad", "invalid_request_error"), "invalid_request", false],
    [
      400,
      body(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "invalid_request_error",
        "context_length_exceeded",
      ),
      "context_overflow",
      false,
    ],
    [
      400,
      {
        error: {
          code: 400,
          message:
            "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
          type: "exceed_context_size_error",
          n_ctx: 4096,
        },
      },
      "context_overflow",
      false,
    ],
    [
      500,
      { error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } },
      "context_overflow",
      false,
    ],
    [
      400,
      { error: "Trying to keep the first 111490 tokens when context the overflows." },
      "context_overflow",
      false,
    ],
    [400, body("The response was filtered", null, "content_filter"), "refusal", false],
    [400, body("foo/bar is not a valid model ID", null, 400), "not_found", false],
    [
      401,
      body("Incorrect API key provided", "invalid_request_error", "invalid_api_key"),
      "authentication",
      false,
    ],
    [402, body("Insufficient credits", null, 402), "billing", false],
    [403, body("Country not supported", "request_forbidden"), "permission", false],
    [
      404,
      body("The model `x` does not exist", "invalid_request_error", "model_not_found"),
      "not_found",
      false,
    ],
    [404, "404 page not found", "not_found", false],
    [408, body("slow", null, 408), "server_error", true],
    [409, body("again"), "server_error", true],
    [413, "too large", "context_overflow", false],
    [422, { detail: [{ loc: ["body", "messages"], msg: "field required" }] }, "invalid_request", false],
    [429, body("Rate limit reached", "tokens", "rate_limit_exceeded"), "rate_limit", true],
    [
      429,
      body("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
      "billing",
      false,
    ],
    [
      429,
      [{ error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED" } }],
      "rate_limit",
      true,
    ],
    [500, body("oops", "server_error"), "server_error", true],
    [502, "<html><body>Bad gateway</body></html>", "server_error", true],
    [503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }, "overloaded", true],
    [503, { message: "no healthy upstream" }, "overloaded", true],
    [
      400,
      { object: "error", message: "bad", type: "BadRequestError", param: null, code: 400 },
      "invalid_request",
      false,
    ],
    [404, { success: false, errors: [{ code: 7003, message: "Could not route" }] }, "not_found", false],
  ])("%i %j is %s", async (status, given, code, retryable) => {
    const { error, chunks } = await ask({ status, body: given, headers: { "x-request-id": "req_x" } });
    expect(chunks).toEqual([]);
    expect(error).toMatchObject({
      code,
      retryable,
      httpStatus: status,
      provider: "openai",
      requestId: "req_x",
    });
    expect(error?.message).toContain(`HTTP ${status} from 127.0.0.1`);
    expect(error?.message).not.toMatch(/[<>]|\bJSON\b/);
  });

  it("says what to do next", async () => {
    expect((await ask({ status: 401, body: "" })).error?.message).toContain("OPENAI_API_KEY");
    expect((await ask({ status: 404, body: {} }, {}, { model: "nope" })).error?.message).toMatch(
      /--model \(nope\).*\/v1/,
    );
    const effort = body("Unrecognized request argument supplied: reasoning_effort");
    expect((await ask({ status: 400, body: effort })).error?.message).toContain("--effort");
  });

  it("OpenRouter's message is that of the provider behind it", async () => {
    const error = {
      code: 400,
      message: "Provider returned error",
      metadata: { raw: '{"detail":"no such tool"}', provider_name: "X" },
    };
    expect((await ask({ status: 400, body: { error } })).error?.message).toMatch(
      /^Provider returned error: .*no such tool/,
    );
  });

  it.each<[Record<string, string>, boolean, number | undefined]>([
    [{ "retry-after": "0" }, true, 0],
    [{ "retry-after": "7" }, true, 7000],
    [{ "retry-after-ms": "1500" }, true, 1500],
    [{ "x-should-retry": "false" }, false, undefined],
  ])("honours %j", async (headers, retryable, retryAfterMs) => {
    const { error } = await ask({ status: 429, body: body("slow"), headers });
    expect([error?.retryable, error?.retryAfterMs]).toEqual([retryable, retryAfterMs]);
  });

  it.each<[string, FakeAnswer, string]>([
    [
      "a login page",
      { body: "<html>Log in</html>", headers: { "content-type": "text/html" } },
      "malformed_response",
    ],
    ["JSON", { body: { id: "x", choices: [] } }, "malformed_response"],
    ["an error object", { body: body("Busy", null, 503) }, "overloaded"],
    ["an error as text", { body: { error: "model runner has stopped" } }, "server_error"],
  ])("a success that is %s instead of a stream", async (_, answer, code) => {
    expect((await ask(answer)).error?.code).toBe(code);
  });
});

describe("PR-04: an error object inside a success", () => {
  it.each<[string, string, string, boolean]>([
    ["OpenAI's", chatChunk(body("It failed", "server_error")), "server_error", true],
    ["one with a status as number", chatChunk(body("It failed", null, 429)), "rate_limit", true],
    ["one with a status as text", chatChunk(body("It failed", null, "503")), "overloaded", true],
    [
      "one that will not get better",
      chatChunk(body("It failed", "invalid_request_error", 400)),
      "invalid_request",
      false,
    ],
    [
      "OpenRouter's, beside a finish reason",
      chatChunk({
        error: { code: 502, message: "It failed" },
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      }),
      "server_error",
      true,
    ],
    [
      "OpenRouter's, in the choice",
      chatChunk({
        choices: [{ delta: {}, error: { code: 429, message: "It failed" }, finish_reason: "error" }],
      }),
      "rate_limit",
      true,
    ],
    [
      "vLLM's",
      chatChunk({ object: "error", message: "It failed", type: "BadRequestError", code: 400 }),
      "invalid_request",
      false,
    ],
    ["a text", chatChunk({ error: "It failed" }), "server_error", true],
    [
      "LM Studio's, with a name",
      `event: error\ndata: ${JSON.stringify({ error: "x", message: "It failed" }).replace('"x"', '{"message":"It failed"}')}\n\n`,
      "server_error",
      true,
    ],
    ["a bare message with a name", 'event: error\ndata: {"message":"It failed"}\n\n', "server_error", true],
    ["a text with a name", "event: error\ndata: It failed\n\n", "server_error", true],
    [
      "PR-05: Anthropic's",
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"It failed"}}\n\n',
      "overloaded",
      true,
    ],
    [
      "llama.cpp's, in a field of its own",
      'error: {"code":500,"message":"It failed","type":"server_error"}\n\n',
      "server_error",
      true,
    ],
    ["outside any event", '{"error":{"message":"It failed","code":503}}\n', "overloaded", true],
    ["a gateway's", chatChunk({ message: "It failed", statusCode: 502 }), "server_error", true],
    ["FastAPI's", chatChunk({ detail: "It failed" }), "server_error", true],
  ])("%s", async (_, frame, code, retryable) => {
    for (const end of ["", "data: [DONE]\n\n"]) {
      const { error, text, done } = await ask(HELLO.unfinished() + frame + end);
      expect([text, done]).toEqual(["Hello", undefined]);
      expect(error).toMatchObject({ code, retryable, provider: "openai", requestId: "req_1" });
      expect(error?.message).toMatch(/^It failed/);
    }
  });

  it("a finish reason that is an error, with nothing beside it", async () => {
    expect((await ask(chatAnswer().text("a").done({ finishReason: "error" }))).error).toMatchObject({
      code: "server_error",
      retryable: true,
    });
    const short = await ask(chatAnswer().text("a").done({ finishReason: "insufficient_system_resource" }));
    expect(short.error).toMatchObject({ code: "overloaded", retryable: true });
    const aborted = await ask(chatAnswer().text("a").done({ finishReason: "abort" }));
    expect(aborted.error).toMatchObject({ code: "stream_interrupted", retryable: true });
  });

  it("PR-05: in the middle of a call's arguments no call is left to run", async () => {
    const stream = chatAnswer().calls({
      index: 0,
      id: "a",
      function: { name: "Bash", arguments: '{"command":"ls"}' },
    });
    const { done, error } = await ask(stream.error({ message: "Overloaded", code: 503 }));
    expect([done, error?.code]).toEqual([undefined, "overloaded"]);
  });

  it("PR-14: half an object with an error object behind it names both", async () => {
    const { error, text } = await ask(
      `${HELLO.unfinished()}data: {"choices":[{"del\ndata: ${JSON.stringify(body("Injected"))}\n\n`,
    );
    expect([text, error?.code, error?.retryable]).toEqual(["Hello", "malformed_response", false]);
    expect(error?.message).toMatch(/no JSON.*"Injected"/);
  });

  it("an event that is no JSON is quoted in bounds", async () => {
    const { error } = await ask(`data: {"a":${"x".repeat(100_000)}\n\n`);
    expect(error?.code).toBe("malformed_response");
    expect(error?.message.length).toBeLessThan(500);
  });
});

describe("PR-06: an end without a finish reason", () => {
  it.each([
    ["a clean close", HELLO.unfinished()],
    ["with the end mark all the same", `${HELLO.unfinished()}data: [DONE]\n\n`],
    ["a clean close behind a whole call", chatAnswer().toolCall("Bash", { command: "ls" }).unfinished()],
    [
      "in the middle of a call, with the end mark",
      `${chatAnswer().toolCall("Bash", '{"comm').unfinished()}data: [DONE]\n\n`,
    ],
  ])("%s", async (_, stream) => {
    const { error, done } = await ask(stream);
    expect(done).toBeUndefined();
    expect(error).toMatchObject({ code: "stream_interrupted", retryable: true });
  });

  it("DM-05: a reset in the middle", async () => {
    const { error, text } = await ask({ steps: [HELLO.unfinished(), { wait: 20, reset: true }] });
    expect([text, error?.code, error?.retryable]).toEqual(["Hello", "stream_interrupted", true]);
  });

  it("nobody listens: the host is named, and what to check", async () => {
    const client = createOpenAIClient({ baseURL: "http://127.0.0.1:9/v1" });
    const { error } = await collect(client.stream(request(), new AbortController().signal));
    expect(error).toMatchObject({ code: "network", retryable: true, httpStatus: null });
    expect(error?.message).toMatch(/127\.0\.0\.1:9 .*--base-url or OPENAI_BASE_URL/);
  });
});

describe("the key", () => {
  it("is in no message, whoever echoes it", async () => {
    const echoes: FakeAnswer[] = [
      { status: 401, body: body(`Incorrect API key provided: ${KEY}`) },
      { status: 403, body: `${"x".repeat(290)} ${KEY}` },
      { body: `key ${KEY}`, headers: { "content-type": "text/html" } },
      { steps: [chatAnswer().error({ message: KEY })] },
      { steps: [`event: error\ndata: ${KEY}\n\n`] },
      { steps: [`data: {${KEY}\n\n`] },
      { steps: [`${KEY}\n`] },
    ];
    for (const echo of echoes) {
      const { error } = await ask(echo);
      expect(error?.message).toContain("[redact");
      expect(error?.message).not.toContain(KEY.slice(0, 12));
    }
    const { chunks } = await ask(chatAnswer().text("a").done({ finishReason: KEY }));
    expect(JSON.stringify(chunks)).not.toContain(KEY);
  });

  it("is needed, but for a server on this machine", async () => {
    const client = createOpenAIClient({ baseURL: "https://openrouter.ai/api/v1" });
    const { error } = await collect(client.stream(request(), new AbortController().signal));
    expect(error).toMatchObject({ code: "authentication", retryable: false });
    expect(error?.message).toContain("OPENROUTER_API_KEY");
    expect((await ask(HELLO.unfinished(), { apiKey: undefined })).text).toBe("Hello");
    const wrong = await ask("", { apiKey: "sk-“quoted”" });
    expect(wrong.error?.code).toBe("config");
    expect(wrong.error?.message).not.toContain("quoted");
  });
});
