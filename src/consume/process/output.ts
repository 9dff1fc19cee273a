import type { Readable } from "node:stream";

/** After the exit: with no output for so long, in ms, an open pipe is taken to have nothing more to give. */
const IDLE_MS = 100;
/** The longest that output is waited for after the exit, in ms, however often some comes. */
const TOTAL_MS = 1000;
/** More than a pipe or socket holds: once that much was read after the exit, all that came before it has been read. */
const PIPE_CAPACITY = 1024 * 1024;

/**
 * What a process prints on stdout. Ends when it has ended and everything that it printed was read, even if processes that
 * it has left behind hold the pipe, or go on printing into it. Read as fast as it is taken; to be read once.
 */
export class ProcessOutput implements AsyncIterable<Uint8Array> {
  readonly #stdout: Readable;
  #exited = false;
  #ended = false;
  #bytesLeft = PIPE_CAPACITY;
  #msLeft = TOTAL_MS;
  #wake: (() => void) | undefined;

  constructor(stdout: Readable, exited: Promise<unknown>) {
    this.#stdout = stdout;
    const onEnd = () => {
      this.#ended = true;
      this.#wake?.();
    };
    for (const event of ["end", "error", "close"]) stdout.once(event, onEnd);
    stdout.on("error", () => undefined);
    stdout.on("readable", () => this.#wake?.());
    void exited.then(() => {
      this.#exited = true;
      this.#wake?.();
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#bytesLeft > 0) {
      const chunk: unknown = this.#stdout.read();
      if (chunk instanceof Uint8Array) {
        if (this.#exited) this.#bytesLeft -= chunk.length;
        yield chunk;
      } else if (this.#ended || !(await this.#somethingHappens())) {
        return;
      }
    }
  }

  /** False: nothing does, and after the exit nothing will. Time in which nobody asks counts for nothing. */
  async #somethingHappens(): Promise<boolean> {
    const begun = performance.now();
    const happened = await new Promise<boolean>((resolve) => {
      let look: NodeJS.Immediate | undefined;
      // A busy event loop may come to the timer late and without having looked at the pipe. Immediates run after the
      // next look.
      const onTime = () => {
        look = setImmediate(() => settle(false));
      };
      const ms = Math.max(0, Math.min(IDLE_MS, this.#msLeft));
      const timer = this.#exited ? setTimeout(onTime, ms) : undefined;
      const settle = (happened: boolean) => {
        clearTimeout(timer);
        clearImmediate(look);
        this.#wake = undefined;
        resolve(happened);
      };
      this.#wake = () => settle(true);
    });
    if (this.#exited) this.#msLeft -= performance.now() - begun;
    return happened;
  }
}
