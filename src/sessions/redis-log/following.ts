import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../../protocol/errors.ts";
import {
  LogChangedError,
  LogError,
  type FollowOptions,
  type LogChange,
  type LogEnd,
  type LogFollowing,
} from "../event-log.ts";
import { headOf } from "../file-log/whole-lines.ts";
import { Connection } from "./connection.ts";
import type { SessionKeys } from "./keys.ts";
import { knownOf, type Known } from "./known.ts";
import { bytesOf, Pages } from "./pages.ts";
import { asNumber, type Entry } from "./replies.ts";
import type { RedisStore } from "./store.ts";

/** So often it is looked whether the writer still lives: soon behind a last word, and longer the longer nothing comes, in ms. */
const LOOK_MS = { first: 20, longest: 1000 } as const;
/** A store that is away for longer is waited for no more, in ms. */
const AWAY_MS = 60_000;
/** After a failure it is tried again so much later, in ms. */
const AGAIN_MS = 300;

/** A session's log in the store: what is there, then what arrives, without a seam. Outages of the store are waited for. */
export class RedisFollowing implements LogFollowing {
  readonly #store: RedisStore;
  readonly #options: FollowOptions;
  readonly #id: string;
  readonly #keys: SessionKeys;
  readonly #nonce: string | undefined;
  #writer: string | undefined;
  /** The `seq` of the line that was met last, and of the first that is handed on. */
  #at: number;
  readonly #from: number;
  #last: Buffer | undefined;
  #lookMs: number = LOOK_MS.first;
  /** Since when the log is not what it was, on the clock. */
  #changedSince: number | undefined;

  constructor(store: RedisStore, { id, keys, nonce, writer, seq }: Known, options: FollowOptions) {
    const { from, tail } = options;
    this.#store = store;
    this.#options = options;
    this.#id = id;
    this.#keys = keys;
    this.#nonce = nonce;
    this.#writer = writer;
    this.#from = tail === undefined ? from : Math.max(1, seq - tail + 1);
    // One line more tells how the log ends though none is handed on.
    this.#at = Math.max(0, Math.min(this.#from, seq) - 1);
  }

  get end(): LogEnd {
    if (this.#isAtLastWord && this.#last) return { kind: "result", line: this.#last.toString("utf8") };
    return this.#options.wait ? { kind: "lost" } : { kind: "open" };
  }

  get #isAtLastWord(): boolean {
    return this.#last !== undefined && headOf(this.#last)?.type === "result";
  }

  async *lines(): AsyncGenerator<Buffer, void, undefined> {
    const { signal } = this.#options;
    let lastGoodAt = performance.now();
    for (;;) {
      let connection: Connection | undefined;
      const close = () => connection?.close();
      signal.addEventListener("abort", close, { once: true });
      try {
        connection = await Connection.open(this.#store, signal);
        for await (const lines of this.#over(connection)) {
          lastGoodAt = performance.now();
          if (lines.length > 0) yield lines;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        const isAway = error instanceof AgentError && error.retryable;
        if (!isAway || performance.now() - lastGoodAt > AWAY_MS) throw asLogError(error);
      } finally {
        signal.removeEventListener("abort", close);
        connection?.close();
      }
      await delay(AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Empty pieces only tell that the store answers. */
  async *#over(connection: Connection): AsyncGenerator<Buffer, void, undefined> {
    const { wait, signal } = this.#options;
    // What was read before the connection was lost is to be there still.
    await this.#known(connection);
    const pages = new Pages(connection, this.#keys.log);
    let isLast = false;
    for (;;) {
      signal.throwIfAborted();
      let page = await pages.after(this.#at);
      if (page.length === 0) {
        if (isLast || !wait) return;
        isLast = await this.#isOver(connection);
        if (isLast) continue;
        page = await pages.waitAfter(this.#at, this.#lookMs);
        this.#lookMs = page.length > 0 ? LOOK_MS.first : Math.min(this.#lookMs * 2, LOOK_MS.longest);
      }
      isLast = false;
      yield this.#take(page);
    }
  }

  #take(page: readonly Entry[]): Buffer {
    const last = page.at(-1);
    if (!last) return Buffer.alloc(0);
    this.#at = last.seq;
    this.#last = last.line;
    return bytesOf(page.filter(({ seq }) => seq >= this.#from));
  }

  async #isOver(connection: Connection): Promise<boolean> {
    const { isAlive, writer } = await this.#known(connection);
    this.#writer = writer;
    return !isAlive;
  }

  /** @throws LogChangedError */
  async #known(connection: Connection): Promise<Known> {
    const { signal } = this.#options;
    for (;;) {
      const known = await knownOf(connection, this.#store.prefix, this.#id);
      const change = this.#changeOf(known);
      if (known && !change) {
        this.#changedSince = undefined;
        return known;
      }
      await this.#checkChange(connection, change ?? "removed", known);
      await delay(AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  #changeOf(known: Known | undefined): LogChange | undefined {
    if (!known) return "removed";
    if (known.nonce !== this.#nonce) return "replaced";
    return known.seq < this.#at ? "cut" : undefined;
  }

  /** A store that was emptied gets everything again from a writer that lives: the log is soon what it was. */
  async #checkChange(connection: Connection, change: LogChange, known: Known | undefined): Promise<void> {
    const since = (this.#changedSince ??= performance.now());
    const isForGood = known
      ? change === "replaced" || known.writer !== this.#writer
      : asNumber(await connection.call("EXISTS", [this.#keys.removed])) === 1;
    const mayReturn = known?.isAlive === true || performance.now() - since < this.#store.leaseMs;
    if (isForGood || !mayReturn)
      throw new LogChangedError(change, `it ${CHANGES[change]} while it was followed`);
  }
}

const CHANGES = { cut: "became shorter", replaced: "was replaced by another log", removed: "was removed" };

function asLogError(error: unknown): unknown {
  return error instanceof AgentError ? new LogError(error.message, { cause: error }) : error;
}
