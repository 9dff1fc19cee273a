import { headOf } from "./text.ts";

export interface GrepPageOptions {
  /** How many entries are passed over. */
  offset: number;
  /** How many entries at most. */
  limit: number;
  /** How long the page may be, in UTF-16 code units. */
  units: number;
}

/** The part of a search's output that the model gets: some entries from some place on, and no more than fits. */
export class GrepPage {
  readonly #options: GrepPageOptions;
  #text = "";
  #seen = 0;
  #shown = 0;
  #more = false;

  constructor(options: GrepPageOptions) {
    this.#options = options;
  }

  /** Takes an entry; `gap` puts a separator before it. Returns false once it is known that there are more. */
  add(entry: string, gap: boolean): boolean {
    this.#seen += 1;
    if (this.#seen <= this.#options.offset) return true;
    const line = `${gap && this.#shown > 0 ? "--\n" : ""}${entry}\n`;
    const fits = this.#text.length + line.length <= this.#options.units;
    if (this.#shown >= this.#options.limit || (!fits && this.#shown > 0)) {
      this.#more = true;
      return false;
    }
    this.#text += fits ? line : `${headOf(entry, this.#options.units - 2)}…\n`;
    this.#shown += 1;
    return true;
  }

  get text(): string {
    return this.#text;
  }

  /** How many entries there were, up to where it stopped. */
  get seen(): number {
    return this.#seen;
  }

  get shown(): number {
    return this.#shown;
  }

  /** Whether there are more; they begin at offset `next`. */
  get more(): boolean {
    return this.#more;
  }

  get next(): number {
    return this.#options.offset + this.#shown;
  }
}
