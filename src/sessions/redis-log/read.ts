import { LogError, type LogReading, type ReadOptions } from "../event-log.ts";
import { initOfLine, type FirstInit } from "../file-log/first-init.ts";
import { readLogBytes } from "../file-log/reading.ts";
import type { Connection } from "./connection.ts";
import type { Known } from "./known.ts";
import { bytesAfter, firstEntry } from "./pages.ts";

/** Reads a session of the store from its very beginning, be that in the logs of others. @throws as {@link EventLog.read}. */
export async function readStored(
  connection: Connection,
  known: Known,
  { signal, onEvent }: ReadOptions,
): Promise<LogReading> {
  for (const { stream, upTo } of await ancestorsOf(connection, known)) {
    const lines = bytesAfter(connection, stream, 0, signal);
    await readLogBytes(lines, { signal, onEvent: (event) => onEvent(event, true) }, upTo);
  }
  const own = bytesAfter(connection, known.keys.log, 0, signal);
  return readLogBytes(own, { signal, onEvent: (event) => onEvent(event, false) });
}

/** Oldest first. */
async function ancestorsOf(
  connection: Connection,
  { keys, ancestors }: Known,
): Promise<{ stream: string; upTo: number }[]> {
  const found: { stream: string; upTo: number }[] = [];
  const left = new Set(ancestors.map(({ id }) => id));
  let origin = await originOf(connection, keys.log);
  while (origin) {
    const { session_id, seq } = origin;
    if (!left.delete(session_id))
      throw new LogError(
        `the session is a fork of ${session_id}, whose lines before the fork are not in the store`,
      );
    const stream = keys.ancestor(session_id);
    found.unshift({ stream, upTo: seq });
    origin = await originOf(connection, stream);
  }
  return found;
}

async function originOf(connection: Connection, stream: string): Promise<FirstInit["forkedFrom"]> {
  const first = await firstEntry(connection, stream);
  return first && initOfLine(first.line.toString("utf8"))?.forkedFrom;
}
