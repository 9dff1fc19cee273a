import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { writesOf, type Cuts, type FakeStep } from "./fake-steps.ts";

export type { Cuts, FakeStep } from "./fake-steps.ts";

/** What the provider answers to one request. */
export interface FakeAnswer extends Cuts {
  /** Default 200. */
  status?: number;
  /** Added to `content-type: text/event-stream` and a `request-id`. */
  headers?: Record<string, string>;
  /** A body that is sent at once: text as it is, anything else as JSON with its content type. */
  body?: unknown;
  /** Otherwise: the body step by step. */
  steps?: readonly FakeStep[];
}

/** A request as it came. */
export interface RecordedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body, parsed; undefined if it was no JSON. */
  body: unknown;
}

export interface FakeProvider {
  /** To be used as base URL. */
  url: string;
  /** All requests so far. */
  requests: readonly RecordedRequest[];
  /** How many connections have been made so far. */
  readonly connections: number;
  /** How many answers are being given: one ends when it is complete or its connection breaks. */
  readonly openAnswers: number;
  /** Cuts off every connection and stops listening. */
  close(): Promise<void>;
}

/**
 * Starts a provider on a free port of the loopback interface. It gives one answer a request, the last
 * again and again; a text stands for a stream that is sent at once and ended cleanly. Whatever the path: it speaks
 * the dialect of its answers.
 */
export async function startFakeProvider(answers: readonly (FakeAnswer | string)[]): Promise<FakeProvider> {
  const requests: RecordedRequest[] = [];
  const open = new Set<ServerResponse>();
  let connections = 0;
  const server = createServer((request, response) => {
    // A client that goes away in the middle is a normal end here.
    response.on("error", () => {});
    open.add(response);
    response.on("close", () => open.delete(response));
    void record(request)
      .then((recorded) => {
        requests.push(recorded);
        const answer = answers[Math.min(requests.length, answers.length) - 1] ?? "";
        const given = typeof answer === "string" ? { steps: [answer] } : answer;
        return reply(response, given, requests.length);
      })
      .catch(() => response.destroy());
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    requests,
    get connections() {
      return connections;
    },
    get openAnswers() {
      return open.size;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function record(request: IncomingMessage): Promise<RecordedRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  const text = Buffer.concat(parts).toString();
  const { method = "", url = "", headers } = request;
  return { method, url, headers, text, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function reply(response: ServerResponse, answer: FakeAnswer, number: number): Promise<void> {
  const { status = 200, headers, body } = answer;
  const isJson = body !== undefined && typeof body !== "string";
  const type = { "content-type": isJson ? "application/json" : "text/event-stream" };
  response.writeHead(status, { ...type, "request-id": `req_${number}`, ...headers });
  if (body !== undefined) {
    response.end(typeof body === "string" ? body : JSON.stringify(body));
    return;
  }
  response.flushHeaders();
  for (const write of writesOf(answer.steps ?? [], answer)) {
    if (typeof write === "number") await pause(write);
    else if (write === "reset") return void response.socket?.resetAndDestroy();
    else if (write === "stall") return;
    else {
      await send(response, write);
      await pause(answer.pause);
    }
  }
  response.end();
}

/** Resolves once the bytes have left. */
async function send(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => response.write(bytes, () => resolve()));
}

async function pause(ms: number | undefined): Promise<void> {
  await new Promise<void>((resolve) => (ms === undefined ? setImmediate(resolve) : setTimeout(resolve, ms)));
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === "string")
    throw new TypeError("the server does not listen on a port");
  return address.port;
}
