import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadPost } from "../../src/model/http-post.ts";

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

const request = (url: string, signal = new AbortController().signal) => ({
  url,
  headers: { "content-type": "application/json" },
  body: '{"ä":1}',
  signal,
});

describe("a request", () => {
  it("sends the body with its length in bytes, and gives status, headers and body", async () => {
    let length: string | undefined;
    const url = await listen(
      createServer((incoming, answer) => {
        length = incoming.headers["content-length"];
        answer.writeHead(418, { "x-thing": "7" });
        incoming.pipe(answer);
      }),
    );
    const answer = await (await loadPost(url, undefined))(request(url));
    expect([answer.status, answer.headers.get("x-thing"), answer.headers.get("x-none")]).toEqual([
      418,
      "7",
      null,
    ]);
    expect(await textOf(answer.body)).toBe('{"ä":1}');
    expect(length).toBe("8");
  });

  it("is sent again on a new connection when the kept one was closed under it", async () => {
    const seen = new Map<Socket, number>();
    const url = await listen(
      createServer((incoming, answer) => {
        const count = (seen.get(incoming.socket) ?? 0) + 1;
        seen.set(incoming.socket, count);
        incoming.resume();
        if (count > 1) incoming.socket.destroy();
        else answer.end("fine");
      }),
    );
    const post = await loadPost(url, undefined);
    for (let n = 0; n < 3; n += 1) {
      expect(await textOf((await post(request(url))).body)).toBe("fine");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(seen.size).toBeGreaterThan(1);
  });

  it("is not sent again when a new connection is closed under it", async () => {
    let requests = 0;
    const url = await listen(
      createServer((incoming) => {
        requests += 1;
        incoming.socket.destroy();
      }),
    );
    await expect((await loadPost(url, undefined))(request(url))).rejects.toThrow("hang up");
    expect(requests).toBe(1);
  });

  it("follows no redirect: whoever answers there may not be whom the key is for", async () => {
    const url = await listen(
      createServer((_, answer) => answer.writeHead(302, { location: "/other" }).end()),
    );
    const answer = await (await loadPost(url, undefined))(request(url));
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/other"]);
    answer.body.resume();
  });

  it("reads what a gateway compresses unasked", async () => {
    const url = await listen(
      createServer((_, answer) =>
        answer.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("squeezed")),
      ),
    );
    expect(await textOf((await (await loadPost(url, undefined))(request(url))).body)).toBe("squeezed");
  });

  it("ends when the signal aborts, before the answer and in the middle of it", async () => {
    const url = await listen(createServer((_, answer) => answer.write("half")));
    const post = await loadPost(url, undefined);
    await expect(post(request(url, AbortSignal.abort()))).rejects.toThrow("hang up");
    const controller = new AbortController();
    const answer = await post(request(url, controller.signal));
    const reading = textOf(answer.body);
    setTimeout(() => controller.abort(), 20);
    await expect(reading).rejects.toThrow("aborted");
  });
});
