const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/**
 * Cuts the long strings of a JSON text that comes in pieces; what comes out is JSON again. No character and no escape is cut
 * in two, but a pair of surrogate escapes may be.
 */
export class CutStrings {
  readonly #longest: number;
  #inString = false;
  /** Bytes of the string so far. */
  #length = 0;
  #dropping = false;
  /** Bytes that still belong to an escape: 1 behind its backslash. */
  #escape = 0;
  #escapeBegins = false;

  /** @param longest how much is kept of each string, in bytes, but for the rest of a character or an escape. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** What remains of the next piece. */
  push(piece: Buffer): Buffer {
    const kept = Buffer.allocUnsafe(piece.length);
    let length = 0;
    for (const byte of piece) {
      if (this.#keeps(byte)) {
        kept[length] = byte;
        length += 1;
      }
    }
    return kept.subarray(0, length);
  }

  #keeps(byte: number): boolean {
    if (!this.#inString) {
      if (byte === QUOTE) this.#begin();
      return true;
    }
    if (this.#escape > 0) {
      this.#escape = this.#escapeBegins && byte === LETTER_U ? 4 : this.#escape - 1;
      this.#escapeBegins = false;
    } else if (byte === QUOTE) {
      this.#inString = false;
      return true;
    } else {
      if (this.#length >= this.#longest && isCharacterStart(byte)) this.#dropping = true;
      this.#escapeBegins = byte === BACKSLASH;
      if (this.#escapeBegins) this.#escape = 1;
    }
    this.#length += 1;
    return !this.#dropping;
  }

  #begin(): void {
    this.#inString = true;
    this.#length = 0;
    this.#dropping = false;
  }
}

/** Not the second or a later byte of a UTF-8 character. */
function isCharacterStart(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
