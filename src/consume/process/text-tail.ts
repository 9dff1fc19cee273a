/** Longest text that is kept, in bytes. */
const TAIL_BYTES = 16 * 1024;

/** The end of what was written, in bounded memory however much it is. */
export class TextTail {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isCut = false;

  push(chunk: Uint8Array): void {
    // A copy, since a piece would keep the whole buffer that it was cut from.
    this.#chunks.push(Uint8Array.from(chunk.subarray(-TAIL_BYTES)));
    this.#isCut ||= chunk.length > TAIL_BYTES;
    this.#bytes += Math.min(chunk.length, TAIL_BYTES);
    if (this.#bytes > 4 * TAIL_BYTES) this.#shorten();
  }

  /** The text; what is no UTF-8 is U+FFFD, and `…` stands for a beginning that was let go. */
  get text(): string {
    this.#shorten();
    const text = new TextDecoder().decode(this.#chunks[0]);
    // A cut may go through a character.
    return this.#isCut ? `…${text.replace(/^\uFFFD{1,3}/, "")}` : text;
  }

  #shorten(): void {
    const all = Buffer.concat(this.#chunks);
    this.#isCut ||= all.length > TAIL_BYTES;
    this.#chunks = [Uint8Array.from(all.subarray(-TAIL_BYTES))];
    this.#bytes = Math.min(all.length, TAIL_BYTES);
  }
}
