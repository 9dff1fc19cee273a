import { Redis } from "ioredis";
import { storeError } from "./errors.ts";
import { placeOf, type RedisStore } from "./store.ts";

/** How long it may take until the store is ready, in ms. */
const CONNECT_MS = 3000;
/** How long an answer may take, in ms, beside what the command itself may wait. */
const ANSWER_MS = 5000;

type Argument = string | Buffer;

/**
 * One connection to a store. It is never mended: when it fails, or the store does not answer in time, it is closed and everything
 * that is under way fails, so that nobody has to guess what arrived. While nothing is under way it does not keep the process alive.
 */
export class Connection {
  readonly #client: Redis;
  readonly #place: string;
  #fault: Error | undefined;
  #underWay = 0;

  private constructor(client: Redis, place: string) {
    this.#client = client;
    this.#place = place;
    // What fails is told to whoever waits for it.
    client.on("error", (error: Error) => {
      this.#fault ??= error;
    });
  }

  /** @throws StoreError; the reason of the signal. */
  static async open(store: RedisStore, signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted();
    const connection = new Connection(newClient(store.url), placeOf(store));
    try {
      await connection.#within(CONNECT_MS, connection.#begin(databaseOf(store)), signal);
      return connection;
    } catch (error) {
      connection.close();
      signal?.throwIfAborted();
      throw connection.#errorOf(error);
    }
  }

  /**
   * @param waitMs how long the command itself may wait, in ms.
   * @throws StoreError
   */
  call(name: string, args: readonly Argument[], waitMs = 0): Promise<unknown> {
    return this.#answer(this.#client.call(name, ...args), waitMs);
  }

  /** The same, with strings as Buffers. */
  callForBytes(name: string, args: readonly Argument[], waitMs = 0): Promise<unknown> {
    return this.#answer(this.#client.callBuffer(name, ...args), waitMs);
  }

  get isOpen(): boolean {
    return this.#client.status === "ready" && this.#fault === undefined;
  }

  /** Whatever is under way fails. Idempotent; never throws. */
  close(): void {
    this.#client.disconnect();
  }

  /** The database is asked for here: the client would go on in another one if there is none like that. */
  async #begin(database: string): Promise<void> {
    await this.#client.connect();
    await this.#client.call("SELECT", database);
    this.#client.stream.unref();
  }

  async #answer(reply: Promise<unknown>, waitMs: number): Promise<unknown> {
    this.#underWay += 1;
    this.#client.stream.ref();
    try {
      return await this.#within(ANSWER_MS + waitMs, reply);
    } catch (error) {
      throw this.#errorOf(error);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#client.stream.unref();
    }
  }

  async #within<T>(limitMs: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = (reason: unknown) => {
        reject(reason instanceof Error ? reason : new Error(String(reason)));
        this.close();
      };
      timer = setTimeout(() => giveUp(new Error(`it has not answered within ${limitMs / 1000} s`)), limitMs);
      onAbort = () => giveUp(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
    // Whichever loses is nobody's any more.
    late.catch(() => undefined);
    work.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
      if (onAbort) signal?.removeEventListener("abort", onAbort);
    }
  }

  /** That a connection is closed says little; what closed it says more. */
  #errorOf(error: unknown): Error {
    const isOnlyClosed = error instanceof Error && /closed|isn't writeable/i.test(error.message);
    return storeError(isOnlyClosed && this.#fault ? this.#fault : error, this.#place);
  }
}

function databaseOf({ url }: RedisStore): string {
  return new URL(url).pathname.slice(1) || "0";
}

function newClient(url: string): Redis {
  const { protocol, hostname, port, username, password } = new URL(url);
  return new Redis({
    // Brackets are an address's in an URL only.
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || "6379"),
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" ? { tls: {} } : {}),
    lazyConnect: true,
    protocol: 2,
    disableClientInfo: true,
    maintNotifications: "disabled",
    enableReadyCheck: false,
    enableOfflineQueue: false,
    connectTimeout: CONNECT_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
}
