import type { Socket } from "node:net";
import { LineSplitter, type Line } from "../../consume/lines.ts";
import { AgentError } from "../../protocol/errors.ts";
import { asReply, refusal, type ControlReply } from "../control-reply.ts";
import {
  noAnswer,
  notRunning,
  type ControlHandler,
  type ControlRequest,
  type RequestOptions,
} from "../control.ts";
import { cannotTell, connectToWriter, type SessionClaim } from "./lock.ts";
import { SocketFolder } from "./socket-folder.ts";

/** The longest message in either direction, in bytes: a prompt may hold images. */
const MAX_MESSAGE_BYTES = 12 * 1024 * 1024;
/** A client that says nothing for so long is hung up on, in ms. */
const SILENT_MS = 30_000;

/** Reads a request out of a parsed line. @throws AgentError `usage` if it is none. */
export type RequestParser = (value: unknown) => Promise<ControlRequest> | ControlRequest;

/**
 * Answers the requests that come in over a session's socket: a JSON object a line, one reply each, in order. Whatever
 * comes in, it throws nothing; a piece of a line is no request.
 *
 * A reply begins with a blank, sent before the request is acted on: it cannot be sent to who has hung up. So a request that
 * was waited for in vain is not acted on later, when a stopped process goes on: who asked has long been told that it failed,
 * and may have asked again.
 */
export function serveControl(
  claim: Pick<SessionClaim, "serve">,
  parse: RequestParser,
  handle: ControlHandler,
): void {
  claim.serve((socket) => {
    socket.setTimeout(SILENT_MS, () => socket.destroy());
    answerAll(socket, parse, handle).catch(() => socket.destroy());
  });
}

async function answerAll(socket: Socket, parse: RequestParser, handle: ControlHandler): Promise<void> {
  const lines = new LineSplitter({ maxLineBytes: MAX_MESSAGE_BYTES });
  for await (const chunk of socket) {
    lines.push(asBytes(chunk));
    for (let line = lines.next(); line; line = lines.next()) {
      const reply = await replyTo(line, parse, async (request) => {
        await write(socket, " ");
        await handle(request);
      });
      await write(socket, `${JSON.stringify(reply)}\n`);
    }
  }
  socket.end();
}

async function replyTo(line: Line, parse: RequestParser, handle: ControlHandler): Promise<ControlReply> {
  try {
    await handle(await parse(valueOf(line)));
    return { ok: true };
  } catch (error) {
    return refusal(error);
  }
}

function valueOf(line: Line): unknown {
  if (line.kind === "too_long")
    throw new AgentError("invalid_request", `a request may have ${MAX_MESSAGE_BYTES} bytes at most`);
  try {
    return JSON.parse(line.text);
  } catch (cause) {
    throw new AgentError("invalid_request", "a request is a JSON object on one line", { cause });
  }
}

/** Resolves when the system has taken it. @throws the system's error, if the other side is gone. */
function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Asks the writer of a session; resolves when it has taken the request up.
 *
 * @param folder the session's folder.
 * @throws AgentError `not_found` if there is no writer, or it ends; `idle_timeout` if it does not answer, and then it never acts on
 * the request unless it had begun to; `io` if the system does not let us ask; what the writer refuses it with; the reason of
 * the signal.
 */
export async function requestControl(
  folder: string,
  id: string,
  request: ControlRequest,
  options: RequestOptions,
): Promise<void> {
  options.signal.throwIfAborted();
  const sockets = new SocketFolder(folder);
  try {
    const found = await connectToWriter(sockets);
    if (found.presence === "unknown") throw cannotTell(id, found.code);
    if (found.presence !== "alive") throw notRunning(id);
    if (!found.socket) throw noAnswer(id);
    const reply = await exchange(found.socket, request, options, id);
    if (!reply.ok) throw new AgentError(reply.error.code, reply.error.message);
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
      socket.off("data", onData).off("close", onClose).destroy();
      action();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    // An error is followed by it.
    const onClose = () =>
      settle(() => reject(new AgentError("not_found", `session ${id} ended before it answered`)));
    const onData = (chunk: Buffer | string) => {
      lines.push(asBytes(chunk));
      const line = lines.next();
      if (line) settle(() => resolve(asReply(line.text)));
    };
    const timer = setTimeout(() => settle(() => reject(noAnswer(id))), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    socket.on("data", onData).on("close", onClose);
    socket.write(`${JSON.stringify(request)}\n`);
  });
}

function asBytes(chunk: Buffer | string): Buffer {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
