import { ActiveClock } from "./active-clock.ts";

// What `--deterministic` fixes of a run's place in the world; how it merges is in emit/window.ts.

/** 2026-01-01T00:00:00.000Z, when every deterministic run begins, in ms. */
const BEGIN_MS = Date.UTC(2026, 0, 1);

/** The session of every deterministic run: a UUID of version 7, made at its begin, whose random bits are zero. */
export const DETERMINISTIC_SESSION_ID = "019b76da-a800-7000-8000-000000000000";

/** Times of lines: from a fixed instant on, each a millisecond after the last. */
export function countingDate(): () => Date {
  let lines = 0;
  return () => new Date(BEGIN_MS + lines++);
}

/** A clock by which nothing takes time, while sleeps and time-outs are as long as ever. */
export class TimelessClock extends ActiveClock {
  override now(): number {
    return 0;
  }
}
