const LF = 0x0a;
const CR = 0x0d;
/** The first size of what a line is collected in, in bytes. */
const FIRST_BYTES = 64 * 1024;

/** One line of bytes, without its end. */
export interface InputLine {
  /** From 1. */
  number: number;
  /** Undefined where the line is longer than the limit. Valid until the next line is asked for. */
  bytes: Buffer | undefined;
  /** In bytes, whether they were kept or not. */
  length: number;
  /** Whether a line end followed; false only for the last line. */
  ended: boolean;
}

/**
 * Splits bytes into lines at LF; a CR before it is dropped. The time is linear in the input, and memory is
 * bounded by `maxBytes` and the size of a chunk: what is longer is counted and left out.
 */
export async function* splitInput(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<InputLine, void, undefined> {
  const open = new OpenLine(maxBytes);
  let number = 1;
  for await (const chunk of chunks) {
    let begin = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, begin)) {
      open.add(chunk.subarray(begin, end));
      yield { number, ...open.take(), ended: true };
      number += 1;
      begin = end + 1;
    }
    open.add(chunk.subarray(begin));
  }
  if (open.length > 0) yield { number, ...open.take(), ended: false };
}

/** The line that is being collected. */
class OpenLine {
  readonly #maxBytes: number;
  #kept = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    // One more, since the last may be a CR that does not count.
    if (length <= this.#maxBytes + 1) {
      this.#makeRoom(length);
      piece.copy(this.#kept, this.#length);
    }
    this.#length = length;
  }

  take(): { bytes: Buffer | undefined; length: number } {
    const all = this.#length <= this.#maxBytes + 1 ? this.#kept.subarray(0, this.#length) : undefined;
    const length = all?.at(-1) === CR ? this.#length - 1 : this.#length;
    this.#length = 0;
    return { bytes: length <= this.#maxBytes ? all?.subarray(0, length) : undefined, length };
  }

  /** Doubling keeps the copying linear, however small the pieces are. */
  #makeRoom(length: number): void {
    if (length <= this.#kept.length) return;
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#kept.length, FIRST_BYTES));
    this.#kept.copy(larger, 0, 0, this.#length);
    this.#kept = larger;
  }
}
