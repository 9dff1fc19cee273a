import { existsSync } from "node:fs";
import { AgentError } from "../../protocol/errors.ts";
import type { ControlRequest, RequestOptions } from "../control.ts";
import type {
  EventLog,
  FollowOptions,
  ListOptions,
  LogFollowing,
  LogReading,
  LogWriter,
  OpenOptions,
  ReadOptions,
  RemoveOptions,
  RunProcess,
  WhichSession,
} from "../event-log.ts";
import { FileLog } from "../file-log/log.ts";
import { sessionPaths } from "../file-log/paths.ts";
import { findAmong, idGiven, liveNamedAmong, noSession } from "../find.ts";
import { checkedId } from "../session-id.ts";
import type { WriterPresence } from "../state.ts";
import type { SessionStatus } from "../status.ts";
import { Beginning } from "./begin.ts";
import { commandOverStore } from "./command.ts";
import { Connection } from "./connection.ts";
import { RedisFollowing } from "./following.ts";
import { sessionKeys } from "./keys.ts";
import { allKnown, knownOf, type Known } from "./known.ts";
import { readStored } from "./read.ts";
import { removeStored } from "./remove.ts";
import { listStored, storedProcess, storedStatus } from "./state.ts";
import type { RedisStore } from "./store.ts";
import { untilAborted } from "./until-aborted.ts";

/**
 * Sessions in a Redis, for every machine that reaches it. A session is written to files first, and copied from there; what only looks
 * needs no files. Beside what the port says, everything may throw a StoreError (`config`, `network`, `io`).
 */
export class RedisLog implements EventLog {
  readonly #store: RedisStore;
  readonly #sessions: string | undefined;
  /** What looks shares a connection, which is opened anew when it was lost. */
  #shared: Promise<Connection> | undefined;

  /** @param sessions the folder of all sessions of this machine, absolute; it need not exist. Without it nothing can be written. */
  constructor(store: RedisStore, sessions: string | undefined) {
    this.#store = store;
    this.#sessions = sessions;
  }

  async create(id: string, parent?: string): Promise<LogWriter> {
    return (await this.#beginning(id)).create(parent);
  }

  async open(id: string, options: OpenOptions): Promise<{ writer: LogWriter; reading: LogReading }> {
    return (await this.#beginning(id, options.signal)).open(options);
  }

  async read(id: string, options: ReadOptions): Promise<LogReading> {
    const { signal } = options;
    const known = await this.#known(id, signal);
    if (known?.hasLog) return this.#look(signal, (connection) => readStored(connection, known, options));
    // One that was never in the store, to be carried on there.
    if (!known && this.#isHere(id)) return this.#files.read(id, options);
    throw noSession(id);
  }

  async follow(id: string, options: FollowOptions): Promise<LogFollowing> {
    const known = await this.#known(id, options.signal);
    if (!known?.hasLog) throw noSession(id);
    return new RedisFollowing(this.#store, known, options);
  }

  async presence(id: string): Promise<WriterPresence> {
    return (await this.#known(id))?.isAlive ? "alive" : "none";
  }

  async state(id: string, signal: AbortSignal): Promise<SessionStatus> {
    checkedId(id);
    return this.#look(signal, (connection) => storedStatus(connection, this.#store, id));
  }

  async command(id: string, request: ControlRequest, options: RequestOptions): Promise<void> {
    return commandOverStore(this.#store, sessionKeys(this.#store.prefix, id), id, request, options);
  }

  async runProcess(id: string): Promise<RunProcess | undefined> {
    const known = await this.#known(id);
    return known && storedProcess(known);
  }

  async list(options: ListOptions): Promise<SessionStatus[]> {
    return this.#look(options.signal, (connection) => listStored(connection, this.#store, options));
  }

  async ids(): Promise<string[]> {
    return (await this.#all()).map(({ id }) => id);
  }

  async find(which: WhichSession): Promise<string> {
    const id = idGiven(which);
    if (id === undefined) {
      const all = await this.#all();
      return findAmong(all, which, isAliveAmong(all));
    }
    if ((await this.#known(id)) || this.#isHere(id)) return id;
    throw noSession(id);
  }

  async liveNamed(name: string): Promise<string | undefined> {
    const all = await this.#all();
    return liveNamedAmong(all, name, isAliveAmong(all));
  }

  async remove(id: string, { signal }: RemoveOptions): Promise<SessionStatus> {
    const known = await this.#known(id, signal);
    if (!known) throw noSession(id);
    const isHere = this.#isHere(id);
    if (known.isAlive || (isHere && (await this.#files.presence(id)) === "alive")) throw stillRuns(id);
    const removed = await this.#look(signal, (connection) => removeStored(connection, this.#store, known));
    if (isHere) await this.#files.remove(id, { force: true, signal });
    return removed;
  }

  async #known(id: string, signal?: AbortSignal): Promise<Known | undefined> {
    checkedId(id);
    return this.#look(signal, (connection) => knownOf(connection, this.#store.prefix, id));
  }

  #all(): Promise<Known[]> {
    return this.#look(undefined, (connection) => allKnown(connection, this.#store));
  }

  async #look<T>(signal: AbortSignal | undefined, work: (connection: Connection) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const connection = await untilAborted(this.#connection(), signal);
    return untilAborted(work(connection), signal);
  }

  async #connection(): Promise<Connection> {
    const shared = await this.#shared?.catch(() => undefined);
    if (shared?.isOpen) return shared;
    const opening = Connection.open(this.#store);
    this.#shared = opening;
    return opening;
  }

  #beginning(id: string, signal?: AbortSignal): Promise<Beginning> {
    const [files, sessions] = [this.#files, this.#folder];
    return Beginning.of({ store: this.#store, files, sessions, id }, signal);
  }

  get #files(): EventLog {
    return new FileLog(this.#folder);
  }

  get #folder(): string {
    if (this.#sessions !== undefined) return this.#sessions;
    throw new AgentError(
      "config",
      "a store gets the lines out of a file, and there is no place for that here; set HOME, XDG_STATE_HOME or LINEFEED_STATE_DIR",
    );
  }

  #isHere(id: string): boolean {
    return this.#sessions !== undefined && existsSync(sessionPaths(this.#sessions, id).events);
  }
}

function isAliveAmong(all: readonly Known[]): (id: string) => Promise<boolean> {
  const alive = new Set(all.filter(({ isAlive }) => isAlive).map(({ id }) => id));
  return async (id) => alive.has(id);
}

function stillRuns(id: string): AgentError {
  return new AgentError(
    "invalid_request",
    `session ${id} is running; end it first with: linefeed stop ${id}`,
  );
}
