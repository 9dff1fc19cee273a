import { SinkError, type Sink } from "../emit/sink.ts";
import type { LinefeedEvent } from "../protocol/event.ts";

/**
 * A sink in the same process: what is written comes out as events, for one reader, who may be slow. They are
 * read back from their lines, so that a program gets exactly what the command prints, and can change nothing
 * that the run still needs.
 */
export class EventChannel implements Sink {
  #lines: string[] = [];
  /** The next line to be taken. */
  #at = 0;
  #taken = 0;
  #ended = false;
  #closed = false;
  #wakeReader: () => void = () => {};
  #wakeWriter: (error?: SinkError) => void = () => {};
  #onClosed: () => void = () => {};

  /** How much has been taken, in UTF-16 code units: a sign of life is all that is asked of it. */
  get taken(): number {
    return this.#taken;
  }

  /** Resolves when the reader has come for more, so that deltas merge while he is busy. */
  write(text: string | Buffer): Promise<void> {
    if (this.#closed) throw readerClosed();
    this.#lines = text.toString().split("\n");
    this.#lines.pop();
    this.#at = 0;
    return new Promise((resolve, reject) => {
      this.#wakeWriter = (error) => (error ? reject(error) : resolve());
      this.#wakeReader();
    });
  }

  onReaderClosed(callback: () => void): void {
    this.#onClosed = callback;
  }

  giveUp(): void {
    this.close();
  }

  /** Nothing more will be written. */
  end(): void {
    this.#ended = true;
    this.#wakeReader();
  }

  /** The reader wants no more. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wakeWriter(readerClosed());
    this.#onClosed();
  }

  /** The next event; undefined after the last. */
  async next(): Promise<LinefeedEvent | undefined> {
    while (this.#at >= this.#lines.length) {
      this.#wakeWriter();
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const line = this.#lines[this.#at] ?? "";
    this.#at += 1;
    this.#taken += line.length;
    // Our own encoder wrote it.
    const event: LinefeedEvent = JSON.parse(line);
    return event;
  }
}

function readerClosed(): SinkError {
  return new SinkError("reader_closed", "EPIPE");
}
