import { AgentError } from "../../protocol/errors.ts";
import type { ListOptions, RunProcess } from "../event-log.ts";
import { noSession } from "../find.ts";
import { CutStrings } from "../file-log/cut-strings.ts";
import { initOfLine } from "../file-log/first-init.ts";
import { eventOf } from "../file-log/log-tail.ts";
import { headOf } from "../file-log/whole-lines.ts";
import { isOfAnotherMachine } from "../machine.ts";
import { statusFrom, type SessionStatus } from "../status.ts";
import { isTelling, TailFold, type LogTail } from "../tail-fold.ts";
import { stillRuns } from "../writer-process.ts";
import type { Connection } from "./connection.ts";
import { allKnown, knownOf, type Known } from "./known.ts";
import { firstEntry, Pages } from "./pages.ts";
import { placeOf, type RedisStore } from "./store.ts";

/** What is further from the end is not looked at, in bytes, but for the last line itself. */
const LOOKED_AT_BYTES = 8 * 1024 * 1024;
/** A line that is longer is not parsed as a whole, and so much is kept of its strings, in bytes. */
const WHOLE_BYTES = 1024 * 1024;
const STRING_BYTES = 64 * 1024;
/** So many sessions are looked at at a time. */
const AT_A_TIME = 8;

/** Looks at one session; a damaged one has a status too. @throws as {@link EventLog.state}. */
export async function storedStatus(
  connection: Connection,
  store: RedisStore,
  id: string,
): Promise<SessionStatus> {
  const before = await knownOf(connection, store.prefix, id);
  if (!before) throw noSession(id);
  const tail = await readTail(connection, before);
  const after = (await knownOf(connection, store.prefix, id)) ?? before;
  // It may have said its last word in between.
  const isSettled = after.isAlive || tail.result !== null || after.seq === before.seq;
  return statusOf(connection, store, after, isSettled ? tail : await readTail(connection, after));
}

/** The sessions of the store. @throws as {@link EventLog.list}. */
export async function listStored(
  connection: Connection,
  store: RedisStore,
  { states, cwd, writtenBefore = Infinity, limit = Infinity, signal }: ListOptions,
): Promise<SessionStatus[]> {
  const all = (await allKnown(connection, store)).filter(
    (one) => (cwd === undefined || one.cwd === cwd) && one.writtenMs < writtenBefore,
  );
  // Whether one counts is known only when it has been looked at.
  const looked = states ? all : all.slice(0, limit);
  const statuses: (SessionStatus | undefined)[] = [];
  const rest = looked.entries();
  const work = async () => {
    for (const [index, { id }] of rest) {
      signal.throwIfAborted();
      statuses[index] = await storedStatus(connection, store, id).catch(undefinedIfRemoved);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return statuses
    .filter((status) => status !== undefined)
    .filter(({ state }) => !states || states.includes(state))
    .slice(0, limit);
}

/** The process of a session's latest run, if that was on this machine. */
export function storedProcess({ meta }: Known): RunProcess | undefined {
  const { writer, process_mark } = meta;
  return writer && !isOfAnotherMachine(meta) ? { ...writer, process_mark } : undefined;
}

function undefinedIfRemoved(error: unknown): undefined {
  if (error instanceof AgentError && error.code === "usage") return undefined;
  throw error;
}

async function statusOf(
  connection: Connection,
  store: RedisStore,
  known: Known,
  tail: LogTail,
): Promise<SessionStatus> {
  const { id, meta, keys, isAlive, writtenMs } = known;
  const first = await firstEntry(connection, keys.log);
  const init = first && initOfLine(first.line.toString("utf8"));
  const isWriters = isAlive && meta.writer && (isOfAnotherMachine(meta) || stillRuns(meta.writer));
  return statusFrom(
    {
      ...meta,
      id,
      cwd: meta.cwd || (init?.cwd ?? ""),
      model: meta.model || (init?.model ?? ""),
      created: meta.created ?? init?.ts ?? null,
      pid: isWriters ? (meta.writer?.pid ?? null) : null,
      log: `${placeOf(store)} ${keys.log}`,
      tail: known.hasLog ? tail : null,
      presence: isAlive ? "alive" : "none",
      writtenMs,
      damage: (terminal) => {
        if (!known.hasLog) return "it has no log";
        if (!first) return terminal ? "its log is empty" : null;
        // The first lines may have been given up by now.
        if (!init && first.seq === 1) return "its first line is no init";
        return tail.damage;
      },
    },
    Date.now(),
  );
}

/** Reads a log from its end, as far as it needs to. */
async function readTail(connection: Connection, { keys, writtenMs }: Known): Promise<LogTail> {
  const fold = new TailFold();
  const pages = new Pages(connection, keys.log);
  let bytes = 0;
  for (let page = await pages.before(); page.length > 0; page = await pages.before(page.at(-1)?.seq ?? 1)) {
    for (const { line } of page) {
      takeIn(fold, line);
      bytes += line.length + 1;
      if (fold.knowsAll || bytes > LOOKED_AT_BYTES) return fold.tail(bytes, writtenMs);
    }
  }
  fold.reachBegin();
  return fold.tail(bytes, writtenMs);
}

function takeIn(fold: TailFold, line: Buffer): void {
  const type = headOf(line)?.type;
  if (type !== undefined && !isTelling(type)) return fold.pass(type);
  const short = line.length > WHOLE_BYTES ? new CutStrings(STRING_BYTES).push(line) : line;
  const event = type === undefined ? undefined : eventOf(short.toString("utf8"));
  if (event) fold.apply(event);
  else if (line.length > 0) fold.passBad();
}
