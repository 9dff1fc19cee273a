const LF = 0x0a;
/** A line's head is not longer than this, in bytes. */
export const HEAD_BYTES = 160;
const HEAD = /^\{"type":"([a-z_]+)","seq":(\d+),/;
const NOTHING = Buffer.alloc(0);

/** What the head of a line says; undefined for a line that is none of ours. */
export function headOf(line: Buffer): { type: string; seq: number } | undefined {
  const [, type, seq] = HEAD.exec(line.toString("latin1", 0, HEAD_BYTES)) ?? [];
  return type === undefined ? undefined : { type, seq: Number(seq) };
}

/**
 * Whole lines out of the pieces of a log that may still be growing, as bytes: what is half written waits for its end. Knows
 * the last whole line, be it handed on or not.
 */
export class WholeLines {
  readonly #from: number;
  #open: Buffer[] = [];
  #skipping: boolean;
  #last: Buffer | undefined;

  /** @param from the `seq` of the first line to be handed on. */
  constructor(from: number) {
    this.#from = from;
    this.#skipping = from > 1;
  }

  /** The last whole line so far, without its LF. */
  get last(): Buffer | undefined {
    return this.#last;
  }

  /** The lines that this piece completes, each with its LF; empty if it completes none. */
  push(piece: Buffer): Buffer {
    const end = piece.lastIndexOf(LF) + 1;
    if (end === 0) {
      this.#open.push(piece);
      return NOTHING;
    }
    const lines =
      this.#open.length === 0
        ? piece.subarray(0, end)
        : Buffer.concat([...this.#open, piece.subarray(0, end)]);
    this.#open = end < piece.length ? [piece.subarray(end)] : [];
    this.#last = lines.subarray(lines.lastIndexOf(LF, lines.length - 2) + 1, lines.length - 1);
    return this.#skipping ? this.#fromWanted(lines) : lines;
  }

  #fromWanted(lines: Buffer): Buffer {
    for (let begin = 0; begin < lines.length;) {
      const head = headOf(lines.subarray(begin, begin + HEAD_BYTES));
      if (head && head.seq >= this.#from) {
        this.#skipping = false;
        return lines.subarray(begin);
      }
      begin = lines.indexOf(LF, begin) + 1;
    }
    return NOTHING;
  }
}
