import { describe, expect, it } from "vitest";
import { startFakeProvider, type FakeAnswer } from "../../src/testing/index.ts";

async function withProvider<T>(
  answers: readonly (FakeAnswer | string)[],
  use: (post: (body?: string) => Promise<Response>) => Promise<T>,
): Promise<T> {
  const provider = await startFakeProvider(answers);
  try {
    return await use((body = "{}") => fetch(`${provider.url}/v1/messages`, { method: "POST", body }));
  } finally {
    await provider.close();
  }
}

/** The body as it arrived, read by read. */
async function reads(response: Response): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of response.body ?? []) parts.push(Buffer.from(part).toString("hex"));
  return parts;
}

describe("the fake provider", () => {
  it("gives one answer a request, the last again and again", async () => {
    await withProvider(["one", "two"], async (post) => {
      const texts: string[] = [];
      for (let request = 0; request < 3; request += 1) texts.push(await (await post()).text());
      expect(texts).toEqual(["one", "two", "two"]);
    });
  });

  it("records what was asked", async () => {
    const provider = await startFakeProvider(["ok"]);
    await fetch(`${provider.url}/v1/x?y=1`, {
      method: "POST",
      body: '{"a":[1]}',
      headers: { "x-test": "t" },
    });
    await fetch(provider.url, { method: "POST", body: "no json" });
    expect(provider.requests).toMatchObject([
      { method: "POST", url: "/v1/x?y=1", headers: { "x-test": "t" }, body: { a: [1] }, text: '{"a":[1]}' },
      { url: "/", body: undefined, text: "no json" },
    ]);
    await provider.close();
  });

  it("answers with any status, headers and body", async () => {
    await withProvider(
      [{ status: 429, headers: { "retry-after": "3" }, body: { a: 1 } }, { body: "<p>" }],
      async (post) => {
        const limited = await post();
        expect([
          limited.status,
          limited.headers.get("retry-after"),
          limited.headers.get("content-type"),
        ]).toEqual([429, "3", "application/json"]);
        expect(await limited.json()).toEqual({ a: 1 });
        expect(await (await post()).text()).toBe("<p>");
      },
    );
  });

  it("writes step by step, each as a read of its own", async () => {
    const steps = ["ab", { hex: "e289" }, { wait: 5, bytes: Buffer.from("a4", "hex") }];
    await withProvider([{ steps, pause: 20 }], async (post) => {
      expect(await reads(await post())).toEqual(["6162", "e289", "a4"]);
    });
  });

  it.each<[FakeAnswer, string[]]>([
    [{ steps: ["abc", "de"], cutAt: [1, 4] }, ["61", "6263", "64", "65"]],
    [{ steps: ["abcde"], cutEvery: 2 }, ["6162", "6364", "65"]],
  ])("%j is cut where it says", async (answer, expected) => {
    await withProvider([{ ...answer, pause: 20 }], async (post) => {
      expect(await reads(await post())).toEqual(expected);
    });
  });

  it("resets the connection, or stalls until it is closed", async () => {
    await withProvider([{ steps: ["a", { reset: true }] }], async (post) => {
      await expect(post().then((response) => response.text())).rejects.toThrow("terminated");
    });
    const provider = await startFakeProvider([{ steps: ["a", { stall: true }] }]);
    const response = await fetch(provider.url, { method: "POST" });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toEqual(new Uint8Array([97]));
    expect([provider.openAnswers, provider.connections]).toEqual([1, 1]);
    await provider.close();
    await expect(reader?.read()).rejects.toThrow("terminated");
    expect(provider.openAnswers).toBe(0);
  });
});
