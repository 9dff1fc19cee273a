import type { IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { ModelError } from "./client.ts";
import type { HeaderReader } from "./http.ts";

/** The values of HTTP_PROXY, HTTPS_PROXY and NO_PROXY, where a proxy is to be used. */
export interface ProxyOptions {
  http?: string | undefined;
  https?: string | undefined;
  noProxy?: string | undefined;
}

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Ends the connection, also while the body is being read. */
  signal: AbortSignal;
}

export interface PostAnswer {
  status: number;
  headers: HeaderReader;
  body: Readable;
}

/** Sends a request; resolves once the head of the answer has come. Follows no redirect, waits without limit. */
export type Post = (request: PostRequest) => Promise<PostAnswer>;

/**
 * The way to send requests: Node's own client, or undici where there is a proxy. (Node's `fetch` loads for
 * 25 ms and takes twice the CPU for each piece of a stream.)
 * @throws ModelError `config` if the proxy is no http(s) URL.
 */
export async function loadPost(baseUrl: string, proxy: ProxyOptions | undefined): Promise<Post> {
  return proxy ? loadProxied(proxy) : loadDirect(baseUrl);
}

async function loadDirect(baseUrl: string): Promise<Post> {
  const { request } = baseUrl.startsWith("https:") ? await import("node:https") : await import("node:http");
  /** `fresh`: not on a connection that was kept. */
  const send = ({ url, headers, body, signal }: PostRequest, fresh: boolean): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const length = String(Buffer.byteLength(body));
      const options: RequestOptions = { method: "POST", headers: { ...headers, "content-length": length } };
      const sent = request(url, fresh ? { ...options, agent: false } : options, resolve);
      sent.on("error", (error) => reject(sent.reusedSocket ? new KeptConnectionError(error) : error));
      // Not by the option `signal`: on a connection that has just become free, Node 20 throws its error at nobody.
      signal.addEventListener("abort", () => sent.destroy(), { once: true });
      if (signal.aborted) sent.destroy();
      sent.end(body);
    });
  return async (post) => {
    const answer = await send(post, false).catch((error: unknown) => {
      if (post.signal.aborted || !(error instanceof KeptConnectionError)) throw error;
      return send(post, true);
    });
    const headers = headerReader(answer.headers);
    return { status: answer.statusCode ?? 0, headers, body: await decoded(answer, headers) };
  };
}

/** A server may close a connection that was kept in the very moment of its use: no fault of the request. */
class KeptConnectionError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

async function loadProxied({ http = "", https = "", noProxy = "" }: ProxyOptions): Promise<Post> {
  for (const proxy of [http, https]) {
    if (proxy !== "" && !isHttpUrl(proxy))
      throw new ModelError("config", "the proxy is no http(s) URL; check HTTP_PROXY and HTTPS_PROXY");
  }
  const { EnvHttpProxyAgent, request } = await import("undici");
  const settings = { httpProxy: http, httpsProxy: https, noProxy, headersTimeout: 0, bodyTimeout: 0 };
  const dispatcher = new EnvHttpProxyAgent(settings);
  return async ({ url, headers, body, signal }) => {
    const answer = await request(url, { method: "POST", headers, body, signal, dispatcher });
    const reader = headerReader(answer.headers);
    return { status: answer.statusCode, headers: reader, body: await decoded(answer.body, reader) };
  };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function headerReader(headers: Record<string, string | string[] | undefined>): HeaderReader {
  return {
    get(name) {
      const value = headers[name];
      return (Array.isArray(value) ? value.join(", ") : value) ?? null;
    },
  };
}

/** No compression is asked for, and some gateways compress all the same. */
async function decoded(body: Readable, headers: HeaderReader): Promise<Readable> {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return body;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  const decoder = encoding === "br" ? createBrotliDecompress() : createUnzip();
  // Errors of either end reach whoever reads the decoder.
  pipeline(body, decoder, () => undefined);
  return decoder;
}
