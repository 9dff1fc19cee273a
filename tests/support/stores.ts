// What tests need to know of sessions in a store.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { LogTrouble, LogWriter } from "../../src/sessions/event-log.ts";
import { sessionKeys } from "../../src/sessions/redis-log/keys.ts";
import { RedisLog } from "../../src/sessions/redis-log/log.ts";
import type { RedisStore } from "../../src/sessions/redis-log/store.ts";
import { AskedProcess } from "./asked-process.ts";
import type { RedisServer } from "./redis-server.ts";
import { SessionLines } from "./session-lines.ts";
import { newState, type State } from "./sessions.ts";

const PREFIX = "test:";

/** One machine's door to a store: files of its own, and the Redis of all. */
export class Door {
  readonly state: State = newState();
  readonly store: RedisStore;
  readonly #server: RedisServer;

  constructor(server: RedisServer, more: Partial<RedisStore> = {}) {
    this.#server = server;
    this.store = { url: server.url(), prefix: PREFIX, leaseMs: 10_000, remoteControl: true, ...more };
  }

  get log(): RedisLog {
    return new RedisLog(this.store, this.state.sessions);
  }

  /** A process that writes as log-writer.mjs says. */
  writer(): Promise<AskedProcess> {
    return AskedProcess.start("tests/sessions/conformance/log-writer.mjs", [
      resolve("dist/sessions/redis-log/log.js"),
      "RedisLog",
      JSON.stringify([this.store, this.state.sessions]),
    ]);
  }

  /** A session with a first line in the store. */
  async begin(): Promise<Begun> {
    const id = randomUUID();
    const writer = await this.log.create(id);
    const lines = new SessionLines(id);
    const troubles: LogTrouble[] = [];
    writer.onTrouble((trouble) => troubles.push(trouble));
    onTestFinished(() => writer.close());
    writer.append(lines.line("init"), false);
    await writer.delivered(LONG());
    return { id, writer, lines, troubles };
  }

  /** A session that has ended, in the store and here. */
  async leave(): Promise<string> {
    const { id, writer, lines } = await this.begin();
    writer.append(lines.lines("turn_start", "step_start", "message", "step_end", "turn_end", "result"), true);
    writer.close();
    await writer.delivered(LONG());
    return id;
  }

  /** The log as it is here. */
  file(id: string): string {
    return readFileSync(this.state.log(id), "utf8");
  }

  /** The log as the store has it. */
  async stored(id: string, stream = this.keys(id).log): Promise<string> {
    return storedLines(this.#server, stream);
  }

  keys(id: string): ReturnType<typeof sessionKeys> {
    return sessionKeys(this.store.prefix, id);
  }
}

export interface Begun {
  id: string;
  writer: LogWriter;
  lines: SessionLines;
  /** What was told of the store so far. */
  troubles: LogTrouble[];
}

/** The lines of a stream. */
export async function storedLines(server: RedisServer, stream: string): Promise<string> {
  const entries = (await server.call(["XRANGE", stream, "-", "+"])) as [string, [string, string]][];
  return entries.map(([, [, line]]) => `${line}\n`).join("");
}

/** For what must not hang. */
export const LONG = () => AbortSignal.timeout(60_000);

/** Waits for what must come to be. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}
