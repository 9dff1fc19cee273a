import { describe, expect, it } from "vitest";
import { createAnthropicClient } from "../../../src/model/anthropic/client.ts";
import { answer, sseEvent, type FakeAnswer } from "../../../src/testing/index.ts";
import { collect, request } from "../../support/model-calls.ts";
import { ask, KEY } from "./support.ts";

const body = (type: string, message: string) => ({ type: "error", error: { type, message } });
const HTML =
  "<!doctype html><html><head><style>b{}</style></head><body><h1>403 Forbidden</h1>by the gateway</body></html>";

describe("EX-09: an answer that is no success", () => {
  it.each<[number, unknown, string, boolean]>([
    [400, body("invalid_request_error", "messages.1: bad"), "invalid_request", false],
    [
      400,
      body("invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum"),
      "context_overflow",
      false,
    ],
    [
      400,
      body("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 3"),
      "context_overflow",
      false,
    ],
    [
      400,
      body("invalid_request_error", "max_tokens: 200000 > 64000, which is the maximum allowed"),
      "invalid_request",
      false,
    ],
    [
      400,
      body("invalid_request_error", "Your credit balance is too low to access the API"),
      "billing",
      false,
    ],
    [401, body("authentication_error", "invalid x-api-key"), "authentication", false],
    [402, body("billing_error", "pay"), "billing", false],
    [403, body("permission_error", "not for you"), "permission", false],
    [404, body("not_found_error", "model: claude-x"), "not_found", false],
    [408, body("timeout_error", "slow"), "server_error", true],
    [409, body("conflict", "again"), "server_error", true],
    [413, body("request_too_large", "too big"), "context_overflow", false],
    [422, { detail: "wrong" }, "invalid_request", false],
    [429, body("rate_limit_error", "slow down"), "rate_limit", true],
    [500, body("api_error", "oops"), "server_error", true],
    [503, "upstream connect error", "overloaded", true],
    [529, body("overloaded_error", "Overloaded"), "overloaded", true],
  ])("%i %j is %s", async (status, body, code, retryable) => {
    const { error, chunks } = await ask({ status, body });
    expect(chunks).toEqual([]);
    expect(error).toMatchObject({
      code,
      retryable,
      httpStatus: status,
      provider: "anthropic",
      requestId: "req_1",
    });
    expect(error?.message).toContain(`HTTP ${status} from 127.0.0.1`);
  });

  it("says what to do next", async () => {
    expect((await ask({ status: 401, body: "" })).error?.message).toContain("ANTHROPIC_API_KEY");
    expect((await ask({ status: 404, body: {} }, {}, { model: "nope" })).error?.message).toMatch(
      /--model \(nope\).*--base-url/,
    );
  });

  it("a page is quoted without its markup, in bounds, and not called invalid JSON", async () => {
    const { error } = await ask({
      status: 403,
      body: HTML + "x".repeat(100_000),
      headers: { "content-type": "text/html" },
    });
    expect(error).toMatchObject({ code: "permission", httpStatus: 403 });
    expect(error?.message).toMatch(/^403 Forbidden by the gateway x/);
    expect(error?.message).not.toMatch(/[<>]|JSON/);
    expect(error?.message.length).toBeLessThan(600);
  });

  it.each<[Record<string, string>, boolean, number | undefined]>([
    [{ "retry-after": "0" }, true, 0],
    [{ "retry-after": "7" }, true, 7000],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, true, 1500],
    [{ "x-should-retry": "false" }, false, undefined],
  ])("honours %j", async (headers, retryable, retryAfterMs) => {
    const { error } = await ask({ status: 429, body: body("rate_limit_error", "slow"), headers });
    expect(error).toMatchObject({ retryable });
    expect(error?.retryAfterMs).toBe(retryAfterMs);
  });

  it("an error in a success without a stream is that error", async () => {
    const { error } = await ask({ body: body("overloaded_error", "Overloaded") });
    expect(error).toMatchObject({ code: "overloaded", retryable: true });
  });

  it.each<[string, FakeAnswer, string]>([
    ["a login page", { body: HTML, headers: { "content-type": "text/html" } }, "403 Forbidden"],
    ["JSON", { body: { id: "msg_1", content: [] } }, '{"id":"msg_1"'],
    ["nothing", { status: 204, body: "" }, "nothing"],
  ])("a success that is %s instead of a stream is malformed", async (_, answer, shown) => {
    const { error } = await ask(answer);
    expect(error).toMatchObject({ code: "malformed_response", retryable: false });
    expect(error?.message).toContain(shown);
  });
});

describe("an error in the middle of the stream", () => {
  it.each([
    ["overloaded_error", "overloaded", true],
    ["rate_limit_error", "rate_limit", true],
    ["api_error", "server_error", true],
    ["timeout_error", "server_error", true],
    ["new_error", "server_error", true],
    ["invalid_request_error", "invalid_request", false],
    ["authentication_error", "authentication", false],
    ["permission_error", "permission", false],
    ["not_found_error", "not_found", false],
    ["billing_error", "billing", false],
    ["request_too_large", "context_overflow", false],
  ])("PR-05: %s is %s", async (type, code, retryable) => {
    const { error, text, done } = await ask(answer().text("Hello").error(type, "It failed"));
    expect([text, done]).toEqual(["Hello", undefined]);
    expect(error).toMatchObject({ code, retryable, requestId: "req_1", usage: { input_tokens: 10 } });
    expect(error?.message).toMatch(/^It failed/);
  });

  it("PR-05: in the middle of a tool's arguments no call is left to run", async () => {
    const start = sseEvent({
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "t", name: "Bash", input: {} },
    });
    const { done, error } = await ask(answer().raw(start).error("overloaded_error", "Overloaded"));
    expect([done, error?.code]).toEqual([undefined, "overloaded"]);
  });

  it("PR-04: without a name, or without a type", async () => {
    const stream = answer().text("Hello").unfinished();
    const nameless = await ask(`${stream}data: ${JSON.stringify(body("overloaded_error", "Busy"))}\n\n`);
    expect(nameless.error).toMatchObject({ code: "overloaded" });
    const typeless = await ask(`${stream}data: {"error":{"message":"Busy","code":502}}\n\n`);
    expect(typeless.error).toMatchObject({ code: "server_error", retryable: true });
    const textual = await ask(`${stream}event: error\ndata: upstream gone\n\n`);
    expect(textual.error?.message).toMatch(/^upstream gone/);
  });

  it("a gateway's bare JSON in place of events is that error", async () => {
    const { error } = await ask(`${JSON.stringify(body("rate_limit_error", "Slow down"))}\n`);
    expect(error).toMatchObject({ code: "rate_limit", retryable: true });
  });

  it("PR-14: half an object with an error object behind it names both", async () => {
    const half = 'event: content_block_delta\ndata: {"type":"content_block_delta","ind';
    const { error, text } = await ask(
      `${answer().text("Hello").unfinished()}${half}\ndata: ${JSON.stringify(body("api_error", "Injected"))}\n\n`,
    );
    expect([text, error?.code, error?.retryable]).toEqual(["Hello", "malformed_response", false]);
    expect(error?.message).toMatch(/no JSON.*"Injected".*"ind/);
  });

  it("an event that is no JSON is quoted in bounds", async () => {
    const { error } = await ask(`data: {"a":${"x".repeat(100_000)}\n\n`);
    expect(error?.code).toBe("malformed_response");
    expect(error?.message.length).toBeLessThan(500);
  });
});

describe("a connection that fails", () => {
  it("PR-06: a clean close before the end, with the usage so far", async () => {
    const { error, text } = await ask(
      answer({ inputUsage: { input_tokens: 77 } })
        .text("Hello")
        .unfinished(),
    );
    expect(text).toBe("Hello");
    expect(error).toMatchObject({ code: "stream_interrupted", retryable: true, usage: { input_tokens: 77 } });
  });

  it("PR-06: a close after the stop reason but before the end is no end", async () => {
    const stream = answer()
      .text("Hello")
      .done()
      .replace(/event: message_stop[^]*/, "");
    expect((await ask(stream)).error).toMatchObject({ code: "stream_interrupted", retryable: true });
  });

  it("DM-05: a reset in the middle", async () => {
    const { error, text } = await ask({
      steps: [answer().text("Hello").unfinished(), { wait: 20, reset: true }],
    });
    expect([text, error?.code, error?.retryable]).toEqual(["Hello", "stream_interrupted", true]);
  });

  it("a reset before the answer", async () => {
    const { error } = await ask({ steps: [{ reset: true }] });
    expect(error).toMatchObject({ retryable: true, provider: "anthropic" });
  });

  it("nobody listens: the host is named, and what to check", async () => {
    const client = createAnthropicClient({ apiKey: KEY, baseURL: "http://127.0.0.1:9" });
    const { error } = await collect(client.stream(request(), new AbortController().signal));
    expect(error).toMatchObject({ code: "network", retryable: true, httpStatus: null });
    expect(error?.message).toMatch(/127\.0\.0\.1:9 .*--base-url/);
  });
});

describe("the key", () => {
  it("is in no message, whoever echoes it", async () => {
    const echoes: FakeAnswer[] = [
      { status: 401, body: body("authentication_error", `invalid key ${KEY}`) },
      { status: 403, body: `${"x".repeat(290)} ${KEY}` },
      { body: `key ${KEY}`, headers: { "content-type": "text/html" } },
      { steps: [answer().error("api_error", KEY)] },
      { steps: [`data: {${KEY}\n\n`] },
      { steps: [`${KEY}\n`] },
    ];
    for (const echo of echoes) {
      const { error } = await ask(echo);
      expect(error?.message).toContain("[redact");
      expect(error?.message).not.toContain(KEY.slice(0, 12));
    }
    const { chunks } = await ask(answer().event({ type: KEY }).done());
    expect(JSON.stringify(chunks)).not.toContain(KEY);
  });

  it("must be there, and fit into a header", async () => {
    expect((await ask("", { apiKey: undefined })).error).toMatchObject({
      code: "authentication",
      retryable: false,
    });
    const { error } = await ask("", { apiKey: "sk-“quoted”" });
    expect(error?.code).toBe("config");
    expect(error?.message).not.toContain("quoted");
  });
});
