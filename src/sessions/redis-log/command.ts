import { AgentError } from "../../protocol/errors.ts";
import { asReply } from "../control-reply.ts";
import { noAnswer, notRunning, type ControlRequest, type RequestOptions } from "../control.ts";
import { noSession } from "../find.ts";
import { Connection } from "./connection.ts";
import { requestFields } from "./control.ts";
import type { SessionKeys } from "./keys.ts";
import { asList, asNumber, asText } from "./replies.ts";
import type { RedisStore } from "./store.ts";

/** So often it is looked whether the writer still lives, in ms. */
const LOOK_MS = 250;
/** The control stream itself goes if nobody asks anything for so long, in ms. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** How long it may take to take a request back, in ms. */
const ABORT_MS = 500;
/** How many requests may wait. */
const MOST = 1000;

/** Asks the writer of a session. @throws as {@link EventLog.command}. */
export async function commandOverStore(
  store: RedisStore,
  keys: SessionKeys,
  id: string,
  request: ControlRequest,
  { timeoutMs, signal }: RequestOptions,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  // Its own, since it waits.
  const connection = await Connection.open(store, signal);
  // What was asked is taken back first, if that goes fast.
  let closing: NodeJS.Timeout | undefined;
  const close = () => (closing = setTimeout(() => connection.close(), ABORT_MS));
  signal.addEventListener("abort", close, { once: true });
  try {
    if (!(await isAlive(connection, keys))) {
      const isThere = asNumber(await connection.call("EXISTS", [keys.meta]));
      throw isThere === 0 ? noSession(id) : notRunning(id);
    }
    await new Asking(connection, keys, id).ask(request, { end, timeoutMs, signal });
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
    clearTimeout(closing);
    connection.close();
  }
}

class Asking {
  readonly #connection: Connection;
  readonly #keys: SessionKeys;
  readonly #id: string;
  readonly #request = crypto.randomUUID();
  #entry = "";

  constructor(connection: Connection, keys: SessionKeys, id: string) {
    this.#connection = connection;
    this.#keys = keys;
    this.#id = id;
  }

  async ask(
    request: ControlRequest,
    { end, timeoutMs, signal }: RequestOptions & { end: number },
  ): Promise<void> {
    const fields = requestFields(this.#request, request, timeoutMs);
    const add = [this.#keys.control, "MAXLEN", "~", String(MOST), "*", ...fields];
    const [entry] = await Promise.all([
      this.#connection.call("XADD", add),
      this.#connection.call("PEXPIRE", [this.#keys.control, String(KEPT_MS)]),
    ]);
    this.#entry = asText(entry) ?? "";
    for (;;) {
      const leftMs = Math.max(1, end - performance.now());
      const answer = await this.#answer(Math.min(LOOK_MS, leftMs));
      if (answer !== undefined) return checkReply(answer);
      if (signal.aborted) return this.#takeBack();
      if (!(await isAlive(this.#connection, this.#keys))) return this.#endedUnder();
      if (performance.now() >= end) return this.#tooLate();
    }
  }

  async #answer(waitMs: number): Promise<string | undefined> {
    const place = this.#keys.answer(this.#request);
    const reply = await this.#connection.call("BLPOP", [place, (waitMs / 1000).toFixed(3)], waitMs);
    return reply === null ? undefined : asText(asList(reply, "BLPOP")[1]);
  }

  /** It may have answered with its last breath. */
  async #endedUnder(): Promise<void> {
    const answer = await this.#answer(1);
    if (answer !== undefined) return checkReply(answer);
    await this.#takeBack();
    throw new AgentError("not_found", `session ${this.#id} ended before it answered`);
  }

  /** What is taken back is never acted on. */
  async #tooLate(): Promise<void> {
    await this.#takeBack();
    const answer = await this.#answer(1);
    if (answer !== undefined) return checkReply(answer);
    throw noAnswer(this.#id);
  }

  async #takeBack(): Promise<void> {
    await this.#connection.call("XDEL", [this.#keys.control, this.#entry]);
  }
}

function checkReply(answer: string): void {
  const reply = asReply(answer);
  if (!reply.ok) throw new AgentError(reply.error.code, reply.error.message);
}

async function isAlive(connection: Connection, keys: SessionKeys): Promise<boolean> {
  return asNumber(await connection.call("EXISTS", [keys.lease])) === 1;
}
