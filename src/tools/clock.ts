/**
 * Time as the loop and the tools know it: a parameter, so that tests need no waiting and so that
 * the time for which a slow reader blocks the run counts against no time-out.
 */
export interface Clock {
  /** Monotonic time in ms, including time blocked by the reader. For durations. */
  now(): number;
  /** The same without the time for which the reader blocked the run. For time-outs. */
  active(): number;
  /**
   * Resolves after `ms` milliseconds during which the run was not blocked by its reader, or as soon as
   * `signal` aborts, whichever is first; never rejects. Look at `signal.aborted` afterwards.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Monotonic time in ms. (`performance` would load a dozen modules for the same number.) */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The plain clock: nothing ever blocks. */
export const systemClock: Clock = {
  now: monotonicMs,
  active: monotonicMs,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      // setTimeout fires at once for more than 2^31 - 1 ms; 24 days stand for "never".
      const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
      signal.addEventListener("abort", done, { once: true });
    }),
};
