import type { Server, Socket } from "node:net";
import { LineSplitter } from "../consume/lines.ts";
import { AgentError } from "../protocol/errors.ts";
import type { PromptContent } from "../protocol/content.ts";
import { highestNumber, workerSocket } from "./lock.ts";
import { SocketFolder, tryConnect } from "./socket-folder.ts";

/** The longest message in either direction, in bytes: a prompt may hold images. */
const MAX_MESSAGE_BYTES = 12 * 1024 * 1024;
/** A client that says nothing for so long is hung up on, in ms. */
const SILENT_MS = 30_000;

/** What the writer of a session can be asked to do. */
export type ControlRequest =
  | { cmd: "ping" }
  /** End the run in order. */
  | { cmd: "stop" }
  /** Answer a further prompt; with `interrupt`, end the current turn first. */
  | { cmd: "send"; prompt: PromptContent; interrupt: boolean };

/** `ok`: it was taken up. */
export type ControlReply = { ok: true } | { ok: false; error: string };

/** Answers one request. What it throws becomes the reply. */
export type ControlHandler = (request: ControlRequest) => Promise<void> | void;

/** Reads a request out of a parsed line. @throws AgentError `usage` if it is none. */
export type RequestParser = (value: unknown) => Promise<ControlRequest> | ControlRequest;

/**
 * Answers the requests that come in over a session's socket: a JSON object a line, one reply each, in order. Whatever
 * comes in, it throws nothing, and no connection keeps the process alive.
 */
export function serveControl(server: Server, parse: RequestParser, handle: ControlHandler): void {
  server.on("connection", (socket) => {
    socket.unref();
    socket.on("error", () => socket.destroy());
    socket.setTimeout(SILENT_MS, () => socket.destroy());
    void answerAll(socket, parse, handle).catch(() => socket.destroy());
  });
}

async function answerAll(socket: Socket, parse: RequestParser, handle: ControlHandler): Promise<void> {
  const lines = new LineSplitter({ maxLineBytes: MAX_MESSAGE_BYTES });
  for await (const chunk of socket) {
    lines.push(asBytes(chunk));
    for (let line = lines.next(); line; line = lines.next()) {
      const reply =
        line.kind === "too_long"
          ? { ok: false, error: `a request is ${MAX_MESSAGE_BYTES} bytes long at most` }
          : await replyTo(line.text, parse, handle);
      if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`);
    }
  }
  socket.end();
}

async function replyTo(text: string, parse: RequestParser, handle: ControlHandler): Promise<ControlReply> {
  try {
    await handle(await parse(JSON.parse(text)));
    return { ok: true };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

export interface RequestOptions {
  /** How long the answer is waited for, in ms: a stopped process takes a request and never answers. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * Asks the writer of a session; resolves when it has taken the request up.
 *
 * @param folder the session's folder.
 * @throws AgentError `not_found` if there is no writer, `timeout` if it does not answer, `invalid_request` if it refuses; the
 * reason of the signal.
 */
export async function requestControl(
  folder: string,
  id: string,
  request: ControlRequest,
  { timeoutMs, signal }: RequestOptions,
): Promise<void> {
  const sockets = new SocketFolder(folder);
  try {
    const number = highestNumber(folder);
    const { listener, socket } = await tryConnect(sockets.pathOf(workerSocket(number)));
    if (listener !== "alive") throw new AgentError("not_found", `session ${id} is not running`);
    if (!socket) throw tooSlow(id);
    const reply = await exchange(socket, request, { timeoutMs, signal }, id);
    if (!reply.ok) throw new AgentError("invalid_request", reply.error);
  } finally {
    sockets.close();
  }
}

function exchange(
  socket: Socket,
  request: ControlRequest,
  { timeoutMs, signal }: RequestOptions,
  id: string,
): Promise<ControlReply> {
  return new Promise((resolve, reject) => {
    const lines = new LineSplitter({ maxLineBytes: MAX_MESSAGE_BYTES });
    const settle = (action: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      socket.removeAllListeners();
      socket.on("error", () => undefined);
      socket.destroy();
      action();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const timer = setTimeout(() => settle(() => reject(tooSlow(id))), timeoutMs);
    const gone = () =>
      settle(() => reject(new AgentError("not_found", `session ${id} ended before it answered`)));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    socket.on("error", gone);
    socket.on("close", gone);
    socket.on("data", (chunk) => {
      lines.push(asBytes(chunk));
      const line = lines.next();
      if (line?.kind === "text") settle(() => resolve(asReply(line.text)));
    });
    socket.write(`${JSON.stringify(request)}\n`);
  });
}

function asReply(text: string): ControlReply {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "ok" in value) {
      if (value.ok === true) return { ok: true };
      if ("error" in value && typeof value.error === "string") return { ok: false, error: value.error };
    }
  } catch {
    // It is said below.
  }
  return { ok: false, error: "the session answered something that is no answer" };
}

function asBytes(chunk: Buffer | string): Buffer {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

function tooSlow(id: string): AgentError {
  return new AgentError(
    "timeout",
    `session ${id} does not answer; its process may be stopped (kill -CONT …), or end it with: linefeed stop ${id} --force`,
    { retryable: true },
  );
}
