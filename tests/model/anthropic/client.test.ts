import { afterEach, describe, expect, it, vi } from "vitest";
import { createAnthropicClient } from "../../../src/model/anthropic/client.ts";
import { answer } from "../../../src/testing/index.ts";
import { collect, request, withProvider } from "../../support/model-calls.ts";
import { withProxy } from "../../support/proxy.ts";
import { ask, KEY } from "./support.ts";

const HELLO = answer().text("Hello").done();

function clientOf(baseURL: string) {
  return createAnthropicClient({ apiKey: KEY, baseURL });
}

async function eventually(condition: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("a call", () => {
  it("is lazy: nothing is sent before the first pull", async () => {
    await withProvider([HELLO], async ({ url, requests }) => {
      const client = clientOf(url);
      await client.preload();
      const stream = client.stream(request(), new AbortController().signal);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(requests).toHaveLength(0);
      await collect(stream);
      expect(requests).toHaveLength(1);
    });
  });

  it("sends the key, and nothing twice: retries are the loop's", async () => {
    await withProvider([{ status: 529, body: {} }], async ({ url, requests }) => {
      await collect(clientOf(url).stream(request(), new AbortController().signal));
      expect(requests).toHaveLength(1);
      expect(requests[0]).toMatchObject({
        method: "POST",
        url: "/v1/messages",
        headers: { authorization: `Bearer ${KEY}` },
      });
      expect(requests[0]?.body).toMatchObject({ model: "model-test", stream: true });
    });
  });

  it("hands a delta on as it comes", async () => {
    await withProvider(
      [{ steps: [answer().text("Hello").unfinished(), { stall: true }] }],
      async ({ url }) => {
        const stream = clientOf(url).stream(request(), new AbortController().signal);
        expect((await stream.next()).value).toEqual([{ type: "text", block: 0, text: "Hello" }]);
        await stream.return();
      },
    );
  });

  it("hands on what came before an error in the same read", async () => {
    const { text, error } = await ask(answer().text("Hello").error("api_error", "x"));
    expect([text, error?.code]).toEqual(["Hello", "server_error"]);
  });
});

describe("the connection", () => {
  it("TE-02: is cut off after the end if the server keeps it open", async () => {
    await withProvider([{ steps: [HELLO, { stall: true }] }], async (provider) => {
      const { done } = await collect(clientOf(provider.url).stream(request(), new AbortController().signal));
      expect(done?.stopReason).toBe("end_turn");
      expect(await eventually(() => provider.openAnswers === 0)).toBe(true);
    });
  });

  it("serves the next step if the server ends the answer in order", async () => {
    await withProvider([HELLO], async (provider) => {
      const client = clientOf(provider.url);
      for (let step = 0; step < 3; step += 1) {
        await collect(client.stream(request(), new AbortController().signal));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(provider.connections).toBe(1);
    });
  });

  it("is closed when the iteration is left early", async () => {
    await withProvider(
      [{ steps: [answer().text("Hello").unfinished(), { stall: true }] }],
      async (provider) => {
        for await (const _ of clientOf(provider.url).stream(request(), new AbortController().signal)) break;
        expect(await eventually(() => provider.openAnswers === 0)).toBe(true);
      },
    );
  });

  it.each([
    ["before the answer", []],
    ["TE-08: in the middle of a stream that has died", [answer().text("Hello").unfinished()]],
  ])("is closed when the signal aborts %s", async (_, steps) => {
    await withProvider([{ steps: [...steps, { stall: true }] }], async (provider) => {
      const controller = new AbortController();
      const outcome = collect(clientOf(provider.url).stream(request(), controller.signal));
      setTimeout(() => controller.abort(), 50);
      expect((await outcome).error).toMatchObject({ code: "cancelled", retryable: false });
      expect(await eventually(() => provider.openAnswers === 0)).toBe(true);
    });
  });

  it("is not made when the signal has aborted", async () => {
    await withProvider([HELLO], async ({ url, requests }) => {
      const { error } = await collect(clientOf(url).stream(request(), AbortSignal.abort()));
      expect([error?.code, requests.length]).toEqual(["cancelled", 0]);
    });
  });

  it("leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await withProvider([HELLO], ({ url }) => collect(clientOf(url).stream(request(), signal)));
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });
});

describe("the environment", () => {
  it("is not read: no key, address, header or profile comes from it", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-other");
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "other");
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    vi.stubEnv("ANTHROPIC_PROFILE", "other");
    vi.stubEnv("ANTHROPIC_CUSTOM_HEADERS", "authorization: Bearer other\nx-other: 1\nx-api-key: 2");
    await withProvider([HELLO], async ({ url, requests }) => {
      const client = createAnthropicClient({ authToken: "token", baseURL: `${url}/` });
      expect((await collect(client.stream(request(), new AbortController().signal))).text).toBe("Hello");
      expect(requests[0]?.headers).toMatchObject({ authorization: "Bearer token" });
      expect(requests[0]?.headers).not.toHaveProperty("x-other");
      expect(requests[0]?.headers).not.toHaveProperty("x-api-key");
    });
    const { error } = await collect(
      createAnthropicClient({}).stream(request(), new AbortController().signal),
    );
    expect(error?.code).toBe("authentication");
  });

  it("makes nothing print: neither a log level nor an old model", async () => {
    vi.stubEnv("ANTHROPIC_LOG", "debug");
    const methods = (["log", "info", "debug", "warn", "error"] as const).map((name) =>
      vi.spyOn(console, name),
    );
    await ask(HELLO, {}, { model: "claude-3-opus-20240229" });
    await ask({ status: 500, body: {} }, {}, { model: "claude-opus-4-0" });
    expect(methods.flatMap((method) => method.mock.calls)).toEqual([]);
  });

  it.each(["not a url", "ftp://host", "http://user:secret@127.0.0.1:9"])(
    "a base URL of %s is a typed error",
    async (baseURL) => {
      const { error } = await ask(HELLO, { baseURL });
      expect(error?.code).toBe("config");
      expect(error?.message).not.toContain("secret");
    },
  );
});

describe("a proxy", () => {
  it("carries the request", async () => {
    await withProxy(async ({ url, tunnels }) => {
      const { text, done } = await ask(answer().text("Hello").done(), { proxy: { http: url } });
      expect([text, done?.stopReason, tunnels.length]).toEqual(["Hello", "end_turn", 1]);
    });
  });

  it("does not where noProxy says so", async () => {
    await withProxy(async ({ url, tunnels }) => {
      const { text } = await ask(HELLO, { proxy: { http: url, noProxy: "localhost,127.0.0.1" } });
      expect([text, tunnels]).toEqual(["Hello", []]);
    });
  });

  it("that cannot be reached, or is no URL, is a typed error", async () => {
    const { error } = await ask(HELLO, { proxy: { http: "http://user:hush1@127.0.0.1:9" } });
    expect(error).toMatchObject({ code: "network", retryable: true });
    expect(error?.message).not.toContain("hush1");
    expect((await ask(HELLO, { proxy: { http: "::" } })).error?.code).toBe("config");
  });
});
