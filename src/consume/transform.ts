import { Transform, type TransformCallback } from "node:stream";
import { StreamParser } from "./dialects/stream-parser.ts";
import type { ReadOptions } from "./reader.ts";

/**
 * The same as `readEvents`, as a stream to put into a pipe: bytes or text in, items out (object mode). Same options, same
 * items; what `readEvents` throws is emitted as `error`.
 *
 * Lines are parsed as they are read, so that what waits in the stream is no more than a chunk and its
 * `readableHighWaterMark` of 16 items.
 */
export function eventStream(options: ReadOptions = {}): Transform {
  return new EventStream(options);
}

class EventStream extends Transform {
  readonly #parser: StreamParser;
  /** Asks for the next chunk; kept while the reader of the stream has enough. */
  #askOn: TransformCallback | undefined;

  constructor({ signal, ...options }: ReadOptions) {
    super({ readableObjectMode: true, decodeStrings: false, ...(signal ? { signal } : {}) });
    this.#parser = new StreamParser(options);
  }

  override _transform(chunk: Uint8Array | string, _encoding: string, askOn: TransformCallback): void {
    this.#parser.push(chunk);
    this.#handOn(askOn);
  }

  override _flush(askOn: TransformCallback): void {
    this.#parser.end();
    this.#handOn(askOn);
  }

  override _read(size: number): void {
    const askOn = this.#askOn;
    this.#askOn = undefined;
    if (askOn) this.#handOn(askOn);
    // Node keeps the call for more where the stream is still full at that moment, and nobody would ask again.
    if (!this.#askOn) super._read(size);
  }

  /** Hands on what the chunk holds, as long as the reader takes it. */
  #handOn(askOn: TransformCallback): void {
    try {
      for (let item = this.#parser.next(); item; item = this.#parser.next()) {
        if (this.push(item)) continue;
        this.#askOn = askOn;
        return;
      }
    } catch (error) {
      askOn(asError(error));
      return;
    }
    const { loading } = this.#parser;
    if (!loading) askOn();
    else
      loading.then(
        () => this.#handOn(askOn),
        (error: unknown) => askOn(asError(error)),
      );
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
