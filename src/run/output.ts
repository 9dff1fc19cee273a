import type { Format } from "../emit/formats/format.ts";
import { SinkError, type Sink } from "../emit/sink.ts";
import type { Stamp } from "../emit/stamp.ts";
import type { Window } from "../emit/window.ts";
import type { ActiveClock } from "./active-clock.ts";

export interface OutputOptions {
  window: Window;
  stamp: Stamp;
  format: Format;
  sink: Sink;
  clock: ActiveClock;
  /** Called once, when nothing more can be written. */
  onFailure: (error: SinkError) => void;
}

/** Takes events out of the window, stamps and encodes them, and writes them as fast as the reader reads. */
export class Output {
  readonly #options: OutputOptions;
  #failure: SinkError | undefined;
  #lastPrinted: number;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#lastPrinted = options.clock.now();
    options.sink.onReaderClosed(() => this.#fail(new SinkError("reader_closed", "EPIPE")));
  }

  /** Why stdout could not be written, if it could not. */
  get failure(): SinkError | undefined {
    return this.#failure;
  }

  /** When something was last written, on the clock. */
  get lastPrinted(): number {
    return this.#lastPrinted;
  }

  /** Resolves when the window has ended and everything is written, or cannot be. Rejects only on a bug. */
  async drain(): Promise<void> {
    const { window, stamp, format, clock } = this.#options;
    for (let bodies = await window.take(); bodies; bodies = await window.take()) {
      const text = bodies.map((body) => format.event(stamp(body)) ?? "").join("");
      if (text === "" || this.#failure) continue;
      try {
        await this.#write(text);
      } catch (error) {
        this.#fail(SinkError.from(error));
      } finally {
        clock.unblock();
        this.#lastPrinted = clock.now();
      }
    }
  }

  #write(text: string): Promise<void> | undefined {
    const rest = this.#options.sink.write(text);
    if (rest) this.#options.clock.block();
    return rest;
  }

  #fail(error: SinkError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#options.onFailure(error);
  }
}

/**
 * Waits for the last output after a cancellation: as long as the reader takes bytes, but not longer than
 * `timeoutMs` for a reader that takes none; then calls `giveUp`.
 */
export async function drainOrGiveUp(
  drained: Promise<void>,
  sink: Sink,
  timeoutMs: number,
  giveUp: () => void,
): Promise<void> {
  let taken = sink.taken;
  const timer = setInterval(() => {
    if (sink.taken === taken) giveUp();
    taken = sink.taken;
  }, timeoutMs);
  try {
    await drained;
  } finally {
    clearInterval(timer);
  }
}
