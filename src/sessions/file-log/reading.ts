import { createReadStream } from "node:fs";
import { readLines, type Line, type TextLine } from "../../consume/lines.ts";
import { EventParser } from "../../consume/parser.ts";
import { AgentError } from "../../protocol/errors.ts";
import type { LinefeedEvent } from "../../protocol/event.ts";
import type { BadLine, LogReading } from "../event-log.ts";
import { logError } from "./writer.ts";

/** How much is read at once, in bytes. */
const CHUNK_BYTES = 1024 * 1024;
/** An answer has 32 MiB at most, which escapes can make several times as long. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
/** How many lines that cannot be read are kept to be named. */
const NAMED = 10;
/** Nine lines in ten are deltas. Nobody reads them again here, so their head is enough. */
const DELTA = /^\{"type":"(?:text|thinking|tool_input|tool_output)_delta","seq":(\d+),"ts":"/;

export interface FileReading extends LogReading {
  /** How long the file is up to the end of its last whole line, in bytes. */
  wholeBytes: number;
  /** Whether only the line end of the last line is missing: what it says is whole. */
  lacksLineEnd: boolean;
}

/**
 * Reads a log file from its beginning, up to the line `upTo` or its end. A line that cannot be read costs only itself.
 * @throws LogError; AgentError `config` if a newer version wrote it; the reason of `signal`.
 */
export function readLog(
  path: string,
  options: { signal: AbortSignal; onEvent: (event: LinefeedEvent) => void },
  upTo?: number,
): Promise<FileReading> {
  const { signal } = options;
  return readLogBytes(createReadStream(path, { highWaterMark: CHUNK_BYTES, signal }), options, upTo);
}

/** The same of a log's bytes, wherever they come from. @throws as {@link readLog}. */
export async function readLogBytes(
  chunks: AsyncIterable<Buffer>,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (event: LinefeedEvent) => void },
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<FileReading> {
  const reader = new LogReader(onEvent);
  try {
    for await (const line of readLines(chunks, { maxLineBytes: MAX_LINE_BYTES })) {
      reader.add(line);
      if (reader.nextSeq > upTo) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AgentError ? error : logError(error);
  }
  return reader.reading;
}

class LogReader {
  readonly #onEvent: (event: LinefeedEvent) => void;
  readonly #parser = new EventParser({ maxLineBytes: MAX_LINE_BYTES * 2 });
  readonly #firstBad: BadLine[] = [];
  #badLines = 0;
  #lastSeq = 0;
  /** Lines since then that cannot be read; they had numbers too, which no other line may get. */
  #badSince = 0;
  #wholeBytes = 0;
  #tornBytes = 0;
  #lacksLineEnd = false;

  constructor(onEvent: (event: LinefeedEvent) => void) {
    this.#onEvent = onEvent;
  }

  get nextSeq(): number {
    return this.#lastSeq + this.#badSince + 1;
  }

  get reading(): FileReading {
    return {
      nextSeq: this.nextSeq,
      badLines: this.#badLines,
      firstBad: this.#firstBad,
      wholeBytes: this.#wholeBytes,
      tornBytes: this.#tornBytes,
      lacksLineEnd: this.#lacksLineEnd,
    };
  }

  add(line: Line): void {
    const fault = line.kind === "text" ? this.#read(line) : "too long";
    if (line.ended) {
      this.#wholeBytes += line.bytes + 1;
      if (fault !== undefined) this.#addBad({ number: line.number, reason: fault });
    } else if (fault === undefined) {
      this.#wholeBytes += line.bytes;
      this.#lacksLineEnd = true;
    } else {
      this.#tornBytes = line.bytes;
    }
  }

  /** Returns why the line cannot be read, if it cannot. */
  #read(line: TextLine): string | undefined {
    if (!line.wellFormed) return "not UTF-8";
    const delta = DELTA.exec(line.text);
    if (delta && line.ended && line.text.endsWith('"}')) return this.#count(Number(delta[1]));
    const item = this.#parse(line.text);
    if (!item) return "blank";
    if (item.type === "invalid") {
      if (item.reason === "protocol")
        throw new AgentError("config", "a newer version of linefeed wrote this session; update linefeed");
      return item.message.replace(/^line \d+: /, "");
    }
    if (item.type !== "unknown") this.#onEvent(item);
    return this.#count(item.seq);
  }

  #parse(text: string): ReturnType<EventParser["next"]> {
    this.#parser.push(`${text}\n`);
    const item = this.#parser.next();
    // The parser wants to be asked until it has no more.
    if (item) this.#parser.next();
    return item;
  }

  #count(seq: number): undefined {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    this.#badSince = 0;
  }

  #addBad(bad: BadLine): void {
    this.#badLines += 1;
    this.#badSince += 1;
    if (this.#firstBad.length < NAMED) this.#firstBad.push(bad);
  }
}
