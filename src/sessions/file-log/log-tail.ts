import { open, type FileHandle } from "node:fs/promises";
import { EventParser } from "../../consume/parser.ts";
import type { LinefeedEvent } from "../../protocol/event.ts";
import { isTelling, TailFold, type LogTail } from "../tail-fold.ts";
import { linesBackwards, readLine, type LinePlace } from "./last-lines.ts";
import { headOf } from "./whole-lines.ts";

/** What is further from the end is not looked at, in bytes, but for the last line itself. */
const LOOKED_AT_BYTES = 8 * 1024 * 1024;
/**
 * Reads a log from its end, as far as it needs to: the time and memory that this takes do not grow with the log.
 * @throws the system's error.
 */
export async function readLogTail(path: string): Promise<LogTail> {
  const file = await open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const fold = new TailFold();
    for await (const place of linesBackwards(file, size)) {
      await takeIn(fold, file, place);
      if (fold.knowsAll || size - place.begin > LOOKED_AT_BYTES) return fold.tail(size, mtimeMs);
    }
    fold.reachBegin();
    return fold.tail(size, mtimeMs);
  } finally {
    await file.close();
  }
}

async function takeIn(fold: TailFold, file: FileHandle, place: LinePlace): Promise<void> {
  const type = headOf(place.head)?.type;
  if (type !== undefined && !isTelling(type)) return fold.pass(type);
  const event = type === undefined ? undefined : eventOf(await readLine(file, place));
  if (event) fold.apply(event);
  // What is half written or torn is no line yet.
  else if (place.ended) fold.passBad();
}

/** What a line says; undefined for one that is no event. */
export function eventOf(line: string): LinefeedEvent | undefined {
  const parser = new EventParser();
  parser.push(`${line}\n`);
  const item = parser.next();
  return item === undefined || item.type === "invalid" || item.type === "unknown" ? undefined : item;
}
