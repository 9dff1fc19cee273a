import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { SessionBusyError } from "../busy.ts";
import type { EventLog, LogReading, LogWriter, OpenOptions } from "../event-log.ts";
import { readMetaFile } from "../file-log/meta-file.ts";
import { ancestorLog, sessionPaths, type SessionPaths } from "../file-log/paths.ts";
import { noSession, takenId } from "../find.ts";
import { thisMachine } from "../machine.ts";
import { ownProcess } from "../writer-process.ts";
import { Connection } from "./connection.ts";
import { indexKey, sessionKeys, type SessionKeys } from "./keys.ts";
import { knownOf } from "./known.ts";
import { fetchAncestor, restoreFiles } from "./restore.ts";
import { appendLines, deleteSession, releaseSession, takeSession, type TakeMode } from "./scripts.ts";
import { Shipper } from "./shipper.ts";
import type { RedisStore } from "./store.ts";
import { RedisLogWriter } from "./writer.ts";

const FOR_EVER: AbortSignal = new AbortController().signal;

/** A session that is about to be written to: the store comes first, since it may refuse, and the files next. */
export class Beginning {
  readonly #store: RedisStore;
  readonly #files: EventLog;
  readonly #id: string;
  readonly #paths: SessionPaths;
  readonly #keys: SessionKeys;
  readonly #token = crypto.randomUUID();
  readonly #connection: Connection;
  #nonce: string = crypto.randomUUID();

  private constructor(
    { store, files, sessions, id }: { store: RedisStore; files: EventLog; sessions: string; id: string },
    connection: Connection,
  ) {
    this.#store = store;
    this.#files = files;
    this.#id = id;
    this.#paths = sessionPaths(sessions, id);
    this.#keys = sessionKeys(store.prefix, id);
    this.#connection = connection;
  }

  /** @throws StoreError; the reason of the signal; TypeError for what is no id. */
  static async of(
    place: { store: RedisStore; files: EventLog; sessions: string; id: string },
    signal: AbortSignal = FOR_EVER,
  ): Promise<Beginning> {
    // What is no id is told before anybody is asked.
    sessionKeys(place.store.prefix, place.id);
    return new Beginning(place, await Connection.open(place.store, signal));
  }

  /** @throws as {@link EventLog.create}. */
  async create(parent: string | undefined): Promise<LogWriter> {
    try {
      const about = JSON.stringify({ ...thisMachine(), writer: ownProcess() });
      const seq = await this.#take("new", about);
      if (seq === undefined) throw takenId(this.#id);
      const file = await this.#renewing(this.#createFiles(parent)).catch((error: unknown) =>
        this.#undo(error),
      );
      return this.#writer(file, seq);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** @throws as {@link EventLog.open}. */
  async open({ force, ...options }: OpenOptions): Promise<{ writer: LogWriter; reading: LogReading }> {
    try {
      const isKnown = await this.#isKnown();
      if (!isKnown && !existsSync(this.#paths.events)) throw noSession(this.#id);
      const seq = await this.#take("open", "");
      if (seq === undefined) throw new SessionBusyError(this.#id);
      // The lease says more of other machines than the files do.
      const opening = this.#openFiles({ ...options, force: force || isKnown });
      const { writer, reading } = await this.#renewing(opening).catch((error: unknown) =>
        isKnown ? this.#giveBack(error) : this.#undo(error),
      );
      return { writer: this.#writer(writer, seq), reading };
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** Returns the last line that the store has; undefined if the session is another's. */
  async #take(mode: TakeMode, about: string): Promise<number | undefined> {
    const { leaseMs, prefix } = this.#store;
    const facts = { leaseMs, mode, nonce: this.#nonce, about };
    const taken = await takeSession(this.#connection, this.#keys, this.#token, facts);
    if (taken.kind !== "ok") return undefined;
    this.#nonce = taken.nonce;
    await this.#connection.call("ZADD", [indexKey(prefix), String(Date.now()), this.#id]);
    return taken.seq;
  }

  async #isKnown(): Promise<boolean> {
    return (await knownOf(this.#connection, this.#store.prefix, this.#id)) !== undefined;
  }

  async #openFiles(options: OpenOptions): ReturnType<EventLog["open"]> {
    const known = await knownOf(this.#connection, this.#store.prefix, this.#id);
    if (known) await restoreFiles(this.#connection, known, this.#paths, options.signal);
    return this.#files.open(this.#id, options);
  }

  async #createFiles(parent: string | undefined): Promise<LogWriter> {
    const known =
      parent === undefined ? undefined : await knownOf(this.#connection, this.#store.prefix, parent);
    if (!known) return this.#files.create(this.#id, parent);
    const writer = await this.#files.create(this.#id);
    const [connection, paths] = [this.#connection, this.#paths];
    try {
      const streams = known.ancestors.map(({ id }) => ({ id, stream: known.keys.ancestor(id) }));
      for (const { id, stream } of [...streams, { id: known.id, stream: known.keys.log }])
        await fetchAncestor(connection, stream, ancestorLog(paths, id), { paths, signal: FOR_EVER });
      return writer;
    } catch (error) {
      writer.close();
      rmSync(paths.folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Files may take their time. */
  async #renewing<T>(work: Promise<T>): Promise<T> {
    const { leaseMs } = this.#store;
    const facts = { token: this.#token, leaseMs, retainMs: undefined, retainLines: undefined };
    const streams = { stream: this.#keys.log, field: "seq", others: [] };
    const timer = setInterval(() => {
      const renewed = appendLines(this.#connection, this.#keys, { ...facts, ...streams }, 0, []);
      // The shipper finds out what became of it.
      renewed.catch(() => undefined);
    }, leaseMs / 3);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  async #giveBack(reason: unknown): Promise<never> {
    try {
      await releaseSession(this.#connection, this.#keys, this.#token);
    } catch {
      // Then its lease runs out.
    }
    throw reason;
  }

  /** The store is to know nothing of it. */
  async #undo(reason: unknown): Promise<never> {
    const [connection, keys] = [this.#connection, this.#keys];
    try {
      await releaseSession(connection, keys, this.#token);
      await deleteSession(connection, keys, []);
      await connection.call("ZREM", [indexKey(this.#store.prefix), this.#id]);
    } catch {
      // Then an empty session is there, which can be removed.
    }
    throw reason;
  }

  #writer(file: LogWriter, seq: number): LogWriter {
    const [store, id, keys, token, paths] = [this.#store, this.#id, this.#keys, this.#token, this.#paths];
    const shipper = new Shipper({
      store,
      id,
      keys,
      token,
      nonce: this.#nonce,
      path: paths.events,
      ancestors: ancestorsIn(paths),
      about: () => JSON.stringify({ ...readMetaFile(paths), ...thisMachine() }),
    });
    shipper.start(this.#connection, seq);
    return new RedisLogWriter(file, shipper, { store, keys, token, id });
  }
}

function ancestorsIn({ ancestors }: SessionPaths): { id: string; path: string }[] {
  if (!existsSync(ancestors)) return [];
  return readdirSync(ancestors)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => ({ id: basename(name, ".jsonl"), path: join(ancestors, name) }));
}
