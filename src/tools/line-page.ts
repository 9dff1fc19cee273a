import { headOf } from "./text.ts";

export interface PageOptions {
  /** The first line wanted, from 1. */
  offset: number;
  /** How many lines at most. */
  limit: number;
  /** How long the page may be, in UTF-16 code units, numbers included. */
  units: number;
}

/**
 * A page of a long text, with line numbers, from pieces cut anywhere. Keeps nothing but the page: lines
 * before it are counted, and of an overlong line only the part that is shown.
 */
export class LinePage {
  readonly #options: PageOptions;
  #page = "";
  /** The number of the line that is being read. */
  #line = 1;
  /** What is kept of that line. */
  #pending = "";
  #pendingLength = 0;
  #shown = 0;
  #cut = 0;
  #more = false;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  /** Takes a piece. Returns false once it is known that the text goes on after the page. */
  add(text: string): boolean {
    for (let begin = 0; begin < text.length && !this.#more;) {
      if (this.#complete()) {
        this.#more = true;
        break;
      }
      const end = text.indexOf("\n", begin);
      this.#extend(text.slice(begin, end === -1 ? undefined : end));
      if (end === -1 || this.#more) break;
      this.#endLine();
      begin = end + 1;
    }
    return !this.#more;
  }

  /** The text is over; a last line without a line end counts too. */
  end(): void {
    if (!this.#more && this.#pendingLength > 0) this.#endLine();
  }

  /** The numbered lines, each ended. */
  get text(): string {
    return this.#page;
  }

  /** How many lines are on the page. */
  get shown(): number {
    return this.#shown;
  }

  /** Whether the text goes on after the page. */
  get more(): boolean {
    return this.#more;
  }

  /** How many units of the only shown line were left out, because it alone is longer than a page. */
  get cut(): number {
    return this.#cut;
  }

  /** The number of the first line after the page, or the count of lines plus 1 where the text ended. */
  get next(): number {
    return this.#line;
  }

  #extend(part: string): void {
    this.#pendingLength += part.length;
    if (this.#line < this.#options.offset) return;
    if (this.#pending.length <= this.#options.units) this.#pending += part;
    // The line will not fit any more, so the page ends before it; alone it is read on, to name the cut.
    if (this.#shown > 0 && this.#prefix().length + this.#pendingLength + 1 > this.#room()) this.#more = true;
  }

  #endLine(): void {
    if (this.#line >= this.#options.offset) {
      const kept = headOf(this.#pending, this.#room() - this.#prefix().length - 1);
      this.#cut = this.#pendingLength - kept.length;
      this.#page += `${this.#prefix()}${kept}\n`;
      this.#shown += 1;
    }
    this.#line += 1;
    this.#pending = "";
    this.#pendingLength = 0;
  }

  #complete(): boolean {
    return this.#shown >= this.#options.limit || this.#cut > 0;
  }

  #room(): number {
    return this.#options.units - this.#page.length;
  }

  #prefix(): string {
    return `${String(this.#line).padStart(6)}\t`;
  }
}
