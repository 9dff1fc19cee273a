import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../../protocol/errors.ts";
import { refusal, type ControlReply } from "../control-reply.ts";
import type { ControlHandler, ControlRequest } from "../control.ts";
import { Connection } from "./connection.ts";
import type { SessionKeys } from "./keys.ts";
import { asFields, asList, asNumber, asRead, asText } from "./replies.ts";
import { takeRequest } from "./scripts.ts";
import type { RedisStore } from "./store.ts";

/** So long a request is waited for at a time, in ms: a connection that says nothing for longer may be none any more. */
const BLOCK_MS = 5000;
/** After a failure it is tried again so much later, in ms. */
const AGAIN_MS = 500;
/** Whoever is being answered when the session is closed gets his answer within this, in ms. */
const LAST_ANSWER_MS = 500;
/** How long an answer lies there for whoever has asked, in ms. */
const ANSWER_KEPT_MS = 60_000;

/** The fields of a request in the control stream: its own id, its JSON, and how long it is waited for, in ms. */
export const REQUEST_FIELDS = { id: "id", body: "body", limit: "ms" } as const;

/** What a writer answers requests with. */
export interface ControlDoor {
  store: RedisStore;
  keys: SessionKeys;
  token: string;
  id: string;
  handle: ControlHandler;
}

/** Answers what comes in over a session's control stream, one after the other, until the signal comes. Never rejects. */
export async function serveControlStream(door: ControlDoor, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await serveOver(door, signal);
    } catch {
      // The shipper tells of an outage.
    }
    await delay(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function serveOver(door: ControlDoor, signal: AbortSignal): Promise<void> {
  const connection = await Connection.open(door.store, signal);
  let isAnswering = false;
  const close = () => void setTimeout(() => connection.close(), isAnswering ? LAST_ANSWER_MS : 0).unref();
  signal.addEventListener("abort", close, { once: true });
  try {
    // Those that came before this run could be asked wait for it; what is too old is not acted on.
    for (let after = "0-0"; !signal.aborted;) {
      const read = ["COUNT", "16", "BLOCK", String(BLOCK_MS), "STREAMS", door.keys.control, after];
      for (const entry of asRead(await connection.call("XREAD", read, BLOCK_MS))) {
        const [id, fields] = asList(entry, "XREAD");
        after = asText(id) ?? after;
        isAnswering = true;
        await answer(door, connection, after, asFields(fields, "XREAD"));
        isAnswering = false;
      }
    }
  } finally {
    signal.removeEventListener("abort", close);
    connection.close();
  }
}

async function answer(
  { keys, token, id, store, handle }: ControlDoor,
  connection: Connection,
  entry: string,
  fields: ReadonlyMap<string, string>,
): Promise<void> {
  const limitMs = asNumber(fields.get(REQUEST_FIELDS.limit));
  if (!(await takeRequest(connection, keys, token, { entry, limitMs }))) return;
  const reply = await replyTo(fields.get(REQUEST_FIELDS.body) ?? "", async (request) => {
    if (request.cmd === "send" && !store.remoteControl) throw notFromHere(id);
    await handle(request);
  });
  const place = keys.answer(fields.get(REQUEST_FIELDS.id) ?? "");
  await Promise.all([
    connection.call("RPUSH", [place, JSON.stringify(reply)]),
    connection.call("PEXPIRE", [place, String(ANSWER_KEPT_MS)]),
  ]);
}

async function replyTo(body: string, handle: ControlHandler): Promise<ControlReply> {
  try {
    // zod is loaded when somebody asks something.
    const { parseControlRequest } = await import("../control-request.ts");
    await handle(parseControlRequest(valueOf(body)));
    return { ok: true };
  } catch (error) {
    return refusal(error);
  }
}

function valueOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new AgentError("invalid_request", "a request is a JSON object", { cause });
  }
}

function notFromHere(id: string): AgentError {
  return new AgentError(
    "permission",
    `session ${id} takes no prompts from the store, since it was started without --remote-control; on its own machine, send without --store`,
  );
}

/** A request as the control stream has it. */
export function requestFields(id: string, request: ControlRequest, limitMs: number): string[] {
  const { id: idField, body, limit } = REQUEST_FIELDS;
  return [idField, id, body, JSON.stringify(request), limit, String(Math.ceil(limitMs))];
}
