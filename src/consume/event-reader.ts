import type { StreamItem } from "./item.ts";
import type { StreamParser } from "./dialects/stream-parser.ts";

type Result = IteratorResult<StreamItem, void>;

const OVER: Result = { value: undefined, done: true };

/**
 * What a generator function over chunks and parser would be, at less than half of its price for each event: an item that
 * is there already is handed on without a turn through a generator's queue.
 */
export class EventReader implements AsyncGenerator<StreamItem, void, undefined> {
  readonly #parser: StreamParser;
  readonly #chunks: AsyncGenerator<Uint8Array | string>;
  readonly #signal: AbortSignal | undefined;
  /** The latest call that has to wait; calls that come meanwhile stand behind it. */
  #waiting: Promise<unknown> | undefined;
  #state: "before" | "reading" | "ending" | "over" = "before";

  constructor(
    parser: StreamParser,
    chunks: AsyncGenerator<Uint8Array | string>,
    signal: AbortSignal | undefined,
  ) {
    this.#parser = parser;
    this.#chunks = chunks;
    this.#signal = signal;
  }

  next(): Promise<Result> {
    if (this.#waiting) return this.#behind(() => this.#take());
    if (this.#state === "over") return Promise.resolve(OVER);
    try {
      const item = this.#ready();
      if (item) return Promise.resolve({ value: item, done: false });
    } catch (error) {
      return this.throw(error);
    }
    return this.#behind(() => this.#take());
  }

  return(): Promise<Result> {
    return this.#behind(() => this.#close());
  }

  throw(error: unknown): Promise<Result> {
    return this.#behind(async () => {
      await this.#close();
      throw error;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Runs a call when those before it are over. */
  #behind(call: () => Promise<Result>): Promise<Result> {
    const result = this.#waiting ? this.#waiting.then(call, call) : call();
    this.#waiting = result;
    const clear = () => {
      if (this.#waiting === result) this.#waiting = undefined;
    };
    result.then(clear, clear);
    return result;
  }

  /** The next item that needs no reading. */
  #ready(): StreamItem | undefined {
    // Before the first read it is left to the chunks, which then close the source too.
    if (this.#state !== "before") this.#signal?.throwIfAborted();
    return this.#parser.next();
  }

  async #take(): Promise<Result> {
    try {
      while (this.#state !== "over") {
        const item = this.#ready();
        if (item) return { value: item, done: false };
        const { loading } = this.#parser;
        await (loading ?? this.#read());
      }
      return OVER;
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async #read(): Promise<void> {
    if (this.#state === "ending") {
      this.#state = "over";
      return;
    }
    this.#state = "reading";
    const chunk = await this.#chunks.next();
    if (chunk.done !== true) {
      this.#parser.push(chunk.value);
    } else {
      this.#state = "ending";
      this.#parser.end();
    }
  }

  async #close(): Promise<Result> {
    this.#state = "over";
    await this.#chunks.return(undefined);
    return OVER;
  }
}
