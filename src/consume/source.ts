import { SourceError } from "./invalid.ts";

/**
 * Where lines come from: a Node stream, a web stream, anything that yields bytes or text in pieces, or the path of a file
 * (a string, or a URL of `file:`). A source is read once, and closed when the reading ends.
 */
export type EventSource = AsyncIterable<Chunk> | ReadableStream<Chunk> | string | URL;

type Chunk = Uint8Array | string;

/** Big pieces: fewer turns of the event loop for a big file. */
const FILE_CHUNK_BYTES = 256 * 1024;

interface OpenSource {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Gives the source back before its end. With `abandon` a read is still waiting, so that nothing can be waited for. */
  close(abandon: boolean): Promise<void>;
}

/** The name of a source for messages: the path, where there is one. */
export function nameOf(source: EventSource): string | null {
  if (typeof source === "string") return source;
  if (source instanceof URL) return source.href;
  return "path" in source && typeof source.path === "string" ? source.path : null;
}

/** Throws a TypeError for what is no source. */
export function assertSource(source: EventSource): void {
  const isOne =
    typeof source === "string" ||
    source instanceof URL ||
    (typeof source === "object" &&
      source !== null &&
      (Symbol.asyncIterator in source || isWebStream(source)));
  if (isOne && !(source instanceof Uint8Array)) return;
  throw new TypeError(
    "the source of events is a stream, an async iterable of bytes or text, or the path of a file; " +
      "for bytes that are there already take `Readable.from([bytes])`",
  );
}

/**
 * The chunks of a source. Throws the reason of `signal` promptly when it is aborted, even while the source is silent, and
 * a {@link SourceError} for what the source throws. Leaving the loop closes the source.
 */
export async function* chunksOf(source: EventSource, signal: AbortSignal | undefined): AsyncGenerator<Chunk> {
  const name = nameOf(source);
  const chunks = await open(source);
  const abort = new AbortRace(signal);
  let atEnd = false;
  try {
    for (;;) {
      atEnd = true;
      const next = await abort.race(chunks.next()).catch((error: unknown) => {
        atEnd = signal?.aborted !== true;
        throw atEnd ? new SourceError(name, error) : signal?.reason;
      });
      if (next.done === true) return;
      atEnd = false;
      yield chunkOf(next.value);
    }
  } finally {
    abort.stop();
    if (!atEnd) await chunks.close(signal?.aborted === true);
  }
}

function chunkOf(value: unknown): Chunk {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  throw new TypeError(`the source yields bytes or text, not ${value === null ? "null" : typeof value}`);
}

async function open(source: EventSource): Promise<OpenSource> {
  if (typeof source === "string" || source instanceof URL) {
    const { createReadStream } = await import("node:fs");
    return openIterable(createReadStream(source, { highWaterMark: FILE_CHUNK_BYTES }));
  }
  return isWebStream(source) ? openWebStream(source) : openIterable(source);
}

function isWebStream(source: object): source is ReadableStream<Chunk> {
  return "getReader" in source && typeof source.getReader === "function";
}

function openWebStream(source: ReadableStream<Chunk>): OpenSource {
  const reader = source.getReader();
  return {
    next: () => reader.read(),
    close: (abandon) => settle(reader.cancel(), abandon),
  };
}

function openIterable(source: AsyncIterable<unknown>): OpenSource {
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    close(abandon) {
      // Of a stream, what waits for the next piece ends when it is destroyed; of a generator, nothing can end it.
      if (abandon && "destroy" in source && typeof source.destroy === "function") source.destroy();
      return settle(Promise.resolve(iterator.return?.()), abandon);
    },
  };
}

async function settle(closing: Promise<unknown>, abandon: boolean): Promise<void> {
  // The reason for which the source was abandoned is already being thrown.
  if (abandon) closing.catch(() => undefined);
  else await closing;
}

/**
 * Lets an abort win against a promise. One listener serves all: racing each promise against one that stays pending would
 * keep them all alive.
 */
class AbortRace {
  readonly #signal: AbortSignal | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  readonly #onAbort = () => this.#reject?.(this.#signal?.reason);

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  race<T>(promise: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      promise.then(resolve, reject);
      if (signal.aborted) reject(signal.reason);
    });
  }

  stop(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
