import { open, type FileHandle } from "node:fs/promises";
import { headOf } from "../file-log/whole-lines.ts";
import type { Entry } from "./replies.ts";

const LF = 0x0a;
/** How much is read at once, in bytes. */
const BLOCK_BYTES = 128 * 1024;
/** So many lines at most are handed on together. */
const MOST_LINES = 512;

/** Lines that stand behind each other in a log file. */
export interface Batch {
  /** The `seq` of the line before them; 0 if there is none. */
  prev: number;
  lines: Entry[];
  /** The `seq` of the last of them. */
  last: number;
  /** Where they end in the file, in bytes. */
  end: number;
}

interface Place {
  seq: number;
  /** In bytes. */
  end: number;
}

/**
 * The whole lines of a log file that may still be growing, in batches, from any line on. A line that is damaged has a number too:
 * one more than the line before. Holds one block of the file, or one line if that is longer.
 */
export class FileLines {
  readonly #path: string;
  #file: FileHandle | undefined;
  /** Behind what was handed on. */
  #at: Place = { seq: 0, end: 0 };
  /** A place that need not be gone behind again. */
  #safe: Place = { seq: 0, end: 0 };
  /** Bytes of the file from `#at.end` on, as far as they were read. */
  #open: Buffer[] = [];
  #openBytes = 0;
  /** Whether a line ends in there. */
  #hasLine = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Goes to the line behind this one. Lines up to `safe` are never asked for again, but for when the store has lost them. */
  async rewind(seq: number): Promise<void> {
    this.#at = this.#safe.seq <= seq ? this.#safe : { seq: 0, end: 0 };
    this.#forgetOpen();
    while (this.#at.seq < seq) {
      const before = this.#at;
      const batch = await this.next();
      if (!batch) return;
      const kept = batch.lines.filter((line) => line.seq > seq);
      if (kept.length === 0) continue;
      const bytes = kept.reduce((sum, { line }) => sum + line.length + 1, 0);
      this.#at = { seq: Math.max(seq, before.seq), end: batch.end - bytes };
      this.#forgetOpen();
      return;
    }
  }

  /** Where the lines end that were handed on, in bytes. */
  get end(): number {
    return this.#at.end;
  }

  /** That these lines have arrived. */
  keep({ last, end }: Batch): void {
    this.#safe = { seq: last, end };
  }

  /** The next lines; undefined if there is no whole one for now. @throws the system's error. */
  async next(): Promise<Batch | undefined> {
    const file = (this.#file ??= await open(this.#path));
    while (!this.#hasLine) {
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      const { bytesRead } = await file.read(block, 0, BLOCK_BYTES, this.#at.end + this.#openBytes);
      if (bytesRead === 0) return undefined;
      this.#keepOpen(block.subarray(0, bytesRead));
    }
    const bytes = Buffer.concat(this.#open);
    this.#forgetOpen();
    return this.#cut(bytes);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #cut(bytes: Buffer): Batch {
    const prev = this.#at.seq;
    const lines: Entry[] = [];
    let begin = 0;
    let seq = prev;
    for (
      let end = bytes.indexOf(LF);
      end !== -1 && lines.length < MOST_LINES;
      end = bytes.indexOf(LF, begin)
    ) {
      const line = bytes.subarray(begin, end);
      const said = headOf(line)?.seq ?? 0;
      seq = said > seq ? said : seq + 1;
      lines.push({ seq, line });
      begin = end + 1;
    }
    this.#at = { seq, end: this.#at.end + begin };
    if (begin < bytes.length) this.#keepOpen(bytes.subarray(begin));
    return { prev, lines, last: seq, end: this.#at.end };
  }

  #keepOpen(piece: Buffer): void {
    this.#open.push(piece);
    this.#openBytes += piece.length;
    this.#hasLine ||= piece.includes(LF);
  }

  #forgetOpen(): void {
    this.#open = [];
    this.#openBytes = 0;
    this.#hasLine = false;
  }
}
