/** So many items may wait before the source is held back. */
const HELD = 256;

/**
 * Items between one that brings them and one that takes them. `hold`: the one that brings waits while there are many;
 * `keep`: it never waits, what is not taken is kept; `drop`: nothing is kept any more.
 */
export class ItemQueue<Item> {
  #items: Item[] = [];
  #first = 0;
  #mode: "hold" | "keep" | "drop" = "hold";
  #ended = false;
  #takers: ((item: Item | undefined) => void)[] = [];
  #room: (() => void) | undefined;

  /** A promise if the one that brings has to wait; for one who brings one by one. */
  put(item: Item): Promise<void> | undefined {
    if (this.#mode === "drop") return undefined;
    const taker = this.#takers.shift();
    if (taker) {
      taker(item);
      return undefined;
    }
    this.#items.push(item);
    if (this.#mode === "keep" || this.#items.length - this.#first < HELD) return undefined;
    return new Promise((resolve) => {
      this.#room = resolve;
    });
  }

  /** The next item, when there is one; undefined after the last. */
  take(): Promise<Item | undefined> {
    if (this.#first < this.#items.length) return Promise.resolve(this.#shift());
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
    });
  }

  keep(): void {
    if (this.#mode === "hold") this.#mode = "keep";
    this.#makeRoom();
  }

  drop(): void {
    this.#mode = "drop";
    this.#items = [];
    this.#first = 0;
    this.#makeRoom();
  }

  /** There are no more. */
  end(): void {
    this.#ended = true;
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #shift(): Item | undefined {
    const item = this.#items[this.#first];
    this.#first += 1;
    // By halves: taking the first off each time would move all the others.
    if (this.#first >= HELD && this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    if (this.#items.length - this.#first < HELD / 2) this.#makeRoom();
    return item;
  }

  #makeRoom(): void {
    this.#room?.();
    this.#room = undefined;
  }
}
