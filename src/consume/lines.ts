import { decode, decodeAscii, decodeHead, encode, fastBytes, isUtf8 } from "./utf8.ts";

/** Lines longer than this many bytes are skipped and reported, if nothing else is said. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** No string can be longer in Node, so no line can. */
const LONGEST_STRING = 2 ** 29 - 24;
/** Of a line that is too long, the first bytes are kept. */
const HEAD_BYTES = 1024;
/** So many bytes are tried at once as ASCII. Small, since one character that is none spoils the attempt. */
const BLOCK_BYTES = 8 * 1024;
/** A buffer for cut lines that has grown beyond this is given back after use. */
const KEPT_BYTES = 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = new Uint8Array(0);

export interface LineOptions {
  /** The longest line to hand on, in bytes without its LF. Default {@link MAX_LINE_BYTES}. */
  maxLineBytes?: number | undefined;
}

/** A line without its end. */
export interface TextLine {
  kind: "text";
  /** Counted from 1. */
  number: number;
  /** Decoded; bytes that are no UTF-8 have become U+FFFD, and {@link wellFormed} says so. */
  text: string;
  /** Its real length, in bytes without the LF. */
  bytes: number;
  /** Whether a LF ended it: only the last line of a source may have none. */
  ended: boolean;
  /** Whether all of it was UTF-8. */
  wellFormed: boolean;
}

/** A line over the limit; it was skipped. */
export interface LongLine {
  kind: "too_long";
  number: number;
  /** Its beginning, about 1,000 bytes. */
  text: string;
  bytes: number;
  ended: boolean;
}

export type Line = TextLine | LongLine;

/**
 * Bytes to lines, without I/O: `push` a chunk, take lines with `next` until it has none, push the next chunk; after the
 * last one call `end` and take what is left.
 *
 * Only LF ends a line; a CR before it and a byte order mark at the beginning of any line (files that were joined) are
 * taken off. Characters may be cut anywhere between chunks. Time is linear in the bytes, whatever their cut, and
 * memory bounded by the chunk and the limit: a line over the limit is counted to its end and never kept.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #chunk: Uint8Array | undefined;
  #at = 0;
  /** Whole lines of the chunk that are ASCII, and how far they have been taken. */
  #block = "";
  #blockAt = 0;
  /** Up to here the chunk is known not to be worth a try as such a block. */
  #triedTo = 0;
  #over = false;
  #number = 0;
  /** The beginning of a line whose end has not come, in the first bytes of a buffer that grows. */
  #tail: Uint8Array = NOTHING;
  #tailBytes = 0;
  #skipped: SkippedLine | undefined;
  /** Half a surrogate pair at the end of a chunk of text. */
  #half = "";

  /** Throws a RangeError for a limit that is no positive number. */
  constructor({ maxLineBytes = MAX_LINE_BYTES }: LineOptions = {}) {
    if (!(maxLineBytes >= 1)) throw new RangeError(`maxLineBytes must be at least 1, not ${maxLineBytes}`);
    this.#maxLineBytes = Math.min(maxLineBytes, LONGEST_STRING);
  }

  /** The limit in force. */
  get maxLineBytes(): number {
    return this.#maxLineBytes;
  }

  push(chunk: Uint8Array | string): void {
    if (this.#chunk !== undefined)
      throw new TypeError("take every line of a chunk before the next is pushed");
    this.#chunk = typeof chunk === "string" ? this.#encode(chunk) : this.#bytes(chunk);
    this.#at = 0;
    this.#triedTo = 0;
  }

  end(): void {
    this.push(NOTHING);
    this.#over = true;
  }

  /** The next line; undefined when the chunk holds no more that are whole. */
  next(): Line | undefined {
    if (this.#blockAt < this.#block.length) return this.#lineOfBlock();
    const chunk = this.#chunk;
    if (chunk === undefined) return undefined;
    const begin = this.#at;
    const isWhole = this.#tailBytes === 0 && !this.#skipped;
    if (isWhole && begin >= this.#triedTo && this.#openBlock(chunk, begin)) return this.#lineOfBlock();
    const end = chunk.indexOf(LF, begin);
    if (end === -1) return this.#endOfChunk(chunk, begin);
    this.#at = end + 1;
    if (isWhole) return this.#line(chunk, begin, end, true);
    this.#keep(chunk, begin, end);
    return this.#joined(true);
  }

  /** Most lines are short and ASCII: then many are decoded at once, at a fraction of the price of each by itself. */
  #openBlock(chunk: Uint8Array, begin: number): boolean {
    const end = chunk.lastIndexOf(LF, begin + BLOCK_BYTES - 1) + 1;
    const block = end > begin ? decodeAscii(chunk, begin, end) : undefined;
    if (block === undefined) {
      // Where there was one, there will be more.
      this.#triedTo = begin + 4 * BLOCK_BYTES;
      return false;
    }
    this.#block = block;
    this.#blockAt = 0;
    this.#at = end;
    return true;
  }

  #lineOfBlock(): Line {
    const begin = this.#blockAt;
    const end = this.#block.indexOf("\n", begin);
    this.#blockAt = end + 1;
    const number = ++this.#number;
    const bytes = end - begin;
    if (bytes > this.#maxLineBytes) {
      const text = this.#block.slice(begin, Math.min(end, begin + HEAD_BYTES));
      return { kind: "too_long", number, text, bytes, ended: true };
    }
    const to = bytes > 0 && this.#block.charCodeAt(end - 1) === CR ? end - 1 : end;
    return { kind: "text", number, text: this.#block.slice(begin, to), bytes, ended: true, wellFormed: true };
  }

  #endOfChunk(chunk: Uint8Array, begin: number): Line | undefined {
    this.#keep(chunk, begin, chunk.length);
    this.#chunk = undefined;
    const left = this.#tailBytes > 0 || this.#skipped !== undefined;
    return this.#over && left ? this.#joined(false) : undefined;
  }

  /** The line whose pieces were kept. */
  #joined(ended: boolean): Line {
    const skipped = this.#skipped;
    this.#skipped = undefined;
    if (skipped) return { kind: "too_long", number: ++this.#number, ...skipped.line, ended };
    const line = this.#line(this.#tail, 0, this.#tailBytes, ended);
    this.#tailBytes = 0;
    if (this.#tail.length > KEPT_BYTES) this.#tail = NOTHING;
    return line;
  }

  #line(bytes: Uint8Array, begin: number, end: number, ended: boolean): Line {
    const number = ++this.#number;
    const length = end - begin;
    if (length > this.#maxLineBytes) {
      return { kind: "too_long", number, ...new SkippedLine(bytes.subarray(begin, end)).line, ended };
    }
    const from = afterMarks(bytes, begin, end);
    const to = end > from && bytes[end - 1] === CR ? end - 1 : end;
    const text = decode(bytes, from, to);
    const wellFormed = !text.includes("\uFFFD") || isUtf8(bytes, from, to);
    return { kind: "text", number, text, bytes: length, ended, wellFormed };
  }

  /** Keeps a piece of an unended line, or only counts it where the line is too long. */
  #keep(chunk: Uint8Array, begin: number, end: number): void {
    const added = end - begin;
    if (added === 0) return;
    const bytes = this.#tailBytes + added;
    if (!this.#skipped && bytes > this.#maxLineBytes) {
      this.#skipped = new SkippedLine(this.#tail.subarray(0, this.#tailBytes));
      this.#tail = NOTHING;
      this.#tailBytes = 0;
    }
    if (this.#skipped) {
      this.#skipped.add(chunk.subarray(begin, end));
      return;
    }
    this.#reserve(bytes);
    this.#tail.set(chunk.subarray(begin, end), this.#tailBytes);
    this.#tailBytes = bytes;
  }

  /** Doubling: each byte of a line is moved a bounded number of times, however small the chunks are. */
  #reserve(bytes: number): void {
    if (bytes <= this.#tail.length) return;
    const size = Math.max(bytes, Math.min(2 * this.#tail.length, this.#maxLineBytes), 256);
    const grown = fastBytes(new Uint8Array(size));
    grown.set(this.#tail.subarray(0, this.#tailBytes));
    this.#tail = grown;
  }

  #encode(chunk: string): Uint8Array {
    const text = this.#half + chunk;
    const whole = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
    this.#half = text.slice(whole);
    return encode(text.slice(0, whole));
  }

  #bytes(chunk: Uint8Array): Uint8Array {
    if (this.#half === "") return fastBytes(chunk);
    const half = encode(this.#half);
    this.#half = "";
    const joined = new Uint8Array(half.length + chunk.length);
    joined.set(half);
    joined.set(chunk, half.length);
    return fastBytes(joined);
  }
}

/** What is left of a line that is too long: its beginning and its length. */
class SkippedLine {
  readonly #head = new Uint8Array(HEAD_BYTES);
  #bytes = 0;

  constructor(piece: Uint8Array) {
    this.add(piece);
  }

  add(piece: Uint8Array): void {
    if (this.#bytes < HEAD_BYTES) this.#head.set(piece.subarray(0, HEAD_BYTES - this.#bytes), this.#bytes);
    this.#bytes += piece.length;
  }

  get line(): { text: string; bytes: number } {
    return {
      text: decodeHead(this.#head.subarray(0, Math.min(this.#bytes, HEAD_BYTES))),
      bytes: this.#bytes,
    };
  }
}

/**
 * The lines of a source, as {@link LineSplitter} cuts them. The source is read only as fast as lines are taken, and
 * closed when the loop is left early; what it throws is thrown.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array | string>,
  options: LineOptions = {},
): AsyncGenerator<Line, void, undefined> {
  const splitter = new LineSplitter(options);
  for await (const chunk of chunks) {
    splitter.push(chunk);
    for (let line = splitter.next(); line; line = splitter.next()) yield line;
  }
  splitter.end();
  for (let line = splitter.next(); line; line = splitter.next()) yield line;
}

/** Where a line begins once the byte order marks before it are left out. */
function afterMarks(bytes: Uint8Array, begin: number, end: number): number {
  let at = begin;
  while (end - at >= 3 && bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) at += 3;
  return at;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
