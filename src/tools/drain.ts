/** After this long without output, in ms, an open pipe is taken to have nothing more to give. */
const IDLE_MS = 100;
/** The longest that output is waited for after the exit, in ms: a process that keeps printing holds up nobody. */
const TOTAL_MS = 250;

/**
 * Decides when to stop reading pipes whose shell has exited but that other processes still hold open.
 * Only time in which the pipes are read counts: while a slow consumer keeps them paused it stands still.
 */
export class Drain {
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Immediate | undefined;
  /** When the running stretch of reading began; undefined while paused. */
  #since: number | undefined;
  #idleLeft = IDLE_MS;
  #totalLeft = TOTAL_MS;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Reading goes on (or begins). */
  resume(): void {
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    this.#arm();
  }

  /** Reading is held up by the consumer. */
  pause(): void {
    this.#settle();
    this.#since = undefined;
    this.stop();
  }

  /** Output has come. */
  data(): void {
    this.#settle();
    this.#idleLeft = IDLE_MS;
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#check);
  }

  #settle(): void {
    if (this.#since === undefined) return;
    const now = performance.now();
    this.#idleLeft -= now - this.#since;
    this.#totalLeft -= now - this.#since;
    this.#since = now;
  }

  #over(): boolean {
    return this.#idleLeft <= 0 || this.#totalLeft <= 0;
  }

  #arm(): void {
    this.#timer = setTimeout(
      () => {
        this.#settle();
        if (!this.#over()) return this.#arm();
        // A busy event loop may come here late and without having looked at the pipes. Immediates run after
        // the next look, so what lay in the kernel is read first; if it paused us, `resume` arms again.
        this.#check = setImmediate(() => {
          if (this.#over()) this.#onEnd();
          else this.#arm();
        });
      },
      Math.max(0, Math.min(this.#idleLeft, this.#totalLeft)),
    );
  }
}
