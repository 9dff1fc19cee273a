import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../../protocol/errors.ts";
import { LogError, LogTakenError, type LogTrouble } from "../event-log.ts";
import { Bell } from "./bell.ts";
import { Connection } from "./connection.ts";
import { StoreError } from "./errors.ts";
import { indexKey, type SessionKeys } from "./keys.ts";
import { Outage } from "./outage.ts";
import { asNumber } from "./replies.ts";
import { releaseSession, takeSession, type Taken } from "./scripts.ts";
import { FencedError, LinesLostError, Shipment } from "./shipment.ts";
import type { RedisStore } from "./store.ts";

/** After a failure it is tried again so soon, in ms, and then twice as long each time. */
const AGAIN_MS = { first: 50, longest: 1000 } as const;
/** Once nothing more is appended, it is tried no longer than this, in ms. */
const CLOSING_MS = 30_000;

/** What a shipper works on. */
export interface Cargo {
  store: RedisStore;
  id: string;
  keys: SessionKeys;
  /** Makes this writer another than any before it. */
  token: string;
  /** Tells this log from another of the same session. */
  nonce: string;
  /** The log file of the session. */
  path: string;
  /** Log files of the sessions that it is a fork of. */
  ancestors: { id: string; path: string }[];
  /** What is known of the session, for those who look for it. */
  about: () => string;
}

/**
 * Copies a session's log file to the store while it grows, and holds the lease. The file is written first, so an outage only means
 * that there is more to copy. Keeps nothing in memory but what is under way.
 */
export class Shipper {
  readonly #cargo: Cargo;
  readonly #own: Shipment;
  readonly #ancestors: Shipment[];
  readonly #outage: Outage;
  readonly #bell = new Bell();
  readonly #abandoned = new AbortController();
  readonly #waiting = new Set<() => void>();
  #isClosed = false;
  /** How often what is known of the session has changed, and which of these the store knows. */
  readonly #about = { now: 0, arrived: 0 };
  #isOver = false;
  #closing: NodeJS.Timeout | undefined;
  #lost: LogTakenError | undefined;

  constructor(cargo: Cargo) {
    this.#cargo = cargo;
    this.#outage = new Outage(cargo.path);
    this.#own = this.#shipment(cargo.path, cargo.keys.log, "seq");
    this.#ancestors = cargo.ancestors.map(({ id, path }) =>
      this.#shipment(path, cargo.keys.ancestor(id), `seq:${id}`),
    );
  }

  /** @param connection one over which the session was taken. @param seq the last line that the store has. */
  start(connection: Connection, seq: number): void {
    // It rejects only on a bug, which is to be seen.
    void this.#run(connection, seq);
  }

  /** Why nothing more may be written to the session, if that is so. */
  get lost(): LogTakenError | undefined {
    return this.#lost;
  }

  /** Something was appended to the file. */
  wake(): void {
    this.#bell.ring();
  }

  onTrouble(tell: (trouble: LogTrouble) => void): void {
    this.#outage.onTrouble(tell);
  }

  /** What is known of the session is something else now. */
  renewAbout(): void {
    this.#about.now += 1;
    this.wake();
  }

  /** Nothing more comes: what is there is copied, then the session is given back. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#outage.endTelling();
    if (!this.#isOver) this.#closing = setTimeout(() => this.#abandoned.abort(), CLOSING_MS).unref();
    this.wake();
  }

  /** As {@link LogWriter.delivered}. */
  async delivered(signal: AbortSignal): Promise<LogError | undefined> {
    const target = sizeOf(this.#cargo.path);
    const isDone = () =>
      this.#own.arrived.end >= target && !this.#hasNews && (!this.#isClosed || this.#isOver);
    while (!isDone()) {
      if (signal.aborted && this.#isClosed) this.#abandoned.abort();
      if (this.#isOver || signal.aborted) return this.#missing();
      await new Promise<void>((resolve) => {
        const settle = () => {
          signal.removeEventListener("abort", settle);
          this.#waiting.delete(settle);
          resolve();
        };
        this.#waiting.add(settle);
        signal.addEventListener("abort", settle, { once: true });
      });
    }
    return undefined;
  }

  async #run(first: Connection, seq: number): Promise<void> {
    const { signal } = this.#abandoned;
    let wait: number = AGAIN_MS.first;
    let taken: Connection | undefined = first;
    while (!signal.aborted) {
      try {
        const connection = taken ?? (await Connection.open(this.#cargo.store, signal));
        const isTaken = taken !== undefined;
        taken = undefined;
        await this.#shipOver(connection, async () => {
          await this.#goBehind(isTaken ? seq : await this.#takeAgain(connection));
          wait = AGAIN_MS.first;
        });
        break;
      } catch (error) {
        if (signal.aborted || !this.#mayTryAgain(error)) break;
      }
      await delay(wait, undefined, { signal }).catch(() => undefined);
      wait = Math.min(wait * 2, AGAIN_MS.longest);
    }
    this.#isOver = true;
    clearTimeout(this.#closing);
    this.#progress();
    await Promise.allSettled([this.#own, ...this.#ancestors].map((shipment) => shipment.close()));
  }

  /** Works over one connection until everything is said and done. */
  async #shipOver(connection: Connection, begin: () => Promise<void>): Promise<void> {
    const close = () => connection.close();
    this.#abandoned.signal.addEventListener("abort", close, { once: true });
    try {
      await begin();
      await this.#shipAncestors(connection);
      await this.#shipOwn(connection);
      await releaseSession(connection, this.#cargo.keys, this.#cargo.token);
    } finally {
      this.#abandoned.signal.removeEventListener("abort", close);
      connection.close();
    }
  }

  /** Returns the last line that the store has. @throws FencedError if the session is another's now. */
  async #takeAgain(connection: Connection): Promise<number> {
    const { store, id, keys, token, nonce, about } = this.#cargo;
    const news = this.#about.now;
    const facts = { leaseMs: store.leaseMs, mode: "again", nonce, about: news > 0 ? about() : "" } as const;
    const taken = await takeSession(connection, keys, token, facts);
    if (taken.kind !== "ok") throw refusal(taken);
    await connection.call("ZADD", [indexKey(store.prefix), String(Date.now()), id]);
    this.#about.arrived = news;
    return taken.seq;
  }

  get #hasNews(): boolean {
    return this.#about.arrived < this.#about.now;
  }

  async #goBehind(seq: number): Promise<void> {
    const { arrived } = this.#own;
    if (seq < arrived.seq) this.#outage.lose(seq + 1);
    // Also where the store has what arrived: more was under way when the connection was lost.
    await this.#own.beginBehind(seq);
  }

  async #shipAncestors(connection: Connection): Promise<void> {
    for (const ancestor of this.#ancestors) {
      const seq = asNumber(await connection.call("HGET", [this.#cargo.keys.meta, ancestor.field]));
      await ancestor.beginBehind(seq);
      await ancestor.shipAll(connection, () => undefined);
    }
  }

  async #shipOwn(connection: Connection): Promise<void> {
    const { store } = this.#cargo;
    for (;;) {
      const wasClosed = this.#isClosed;
      if (this.#hasNews) await this.#goBehind(await this.#takeAgain(connection));
      await this.#own.shipAll(connection, () => this.#progress());
      this.#outage.end();
      this.#progress();
      // What was appended before the end was seen is there now.
      if (wasClosed) return;
      if (!(await this.#bell.wait(store.leaseMs / 3))) await this.#own.renew(connection);
    }
  }

  #shipment(path: string, stream: string, field: string): Shipment {
    const { store, keys, token, ancestors } = this.#cargo;
    const { leaseMs, retainMs } = store;
    // Without its beginning an ancestor is of no use.
    const retainLines = field === "seq" ? store.retainLines : undefined;
    const others = [keys.log, ...ancestors.map(({ id }) => keys.ancestor(id))].filter(
      (one) => one !== stream,
    );
    return new Shipment(path, keys, { token, leaseMs, retainMs, retainLines, stream, field, others });
  }

  /** Notes what went wrong. */
  #mayTryAgain(thrown: unknown): boolean {
    if (thrown instanceof LinesLostError) return true;
    if (thrown instanceof FencedError) {
      this.#lost = new LogTakenError(thrown.message, { cause: thrown });
      if (!thrown.isRemoved) this.#outage.tellTaken(thrown.message);
      return false;
    }
    const { path } = this.#cargo;
    const error =
      thrown instanceof AgentError
        ? thrown
        : new StoreError("io", `${path} cannot be read: ${String(thrown)}`);
    this.#outage.fail(error);
    return true;
  }

  #missing(): LogError {
    if (this.#lost) return this.#lost;
    const why = this.#outage.error?.message ?? "the store does not answer, or is slow";
    return new LogError(
      `the store does not have the lines from ${this.#own.arrived.seq + 1} on: ${why}; they are kept in ${this.#cargo.path}, and copied by the next run on this session`,
      { cause: this.#outage.error },
    );
  }

  #progress(): void {
    for (const settle of this.#waiting) settle();
  }
}

const REFUSED = {
  busy: "another run has carried the session on, since this one was not heard of for longer than its lease",
  fenced: "another run has carried the session on, since this one was not heard of for longer than its lease",
  exists: "another session has begun under its id",
  removed: "the session was removed",
} as const;

function refusal({ kind }: Exclude<Taken, { kind: "ok" }>): FencedError {
  return new FencedError(REFUSED[kind], { isRemoved: kind === "removed" });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
