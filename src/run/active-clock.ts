import { monotonicMs, systemClock, type Clock } from "../tools/clock.ts";

/** While the reader blocks the run, sleepers look this often whether it still does, in ms. */
const BLOCKED_POLL_MS = 20;

/** A clock whose sleep does not count the time for which the reader blocks the run. */
export class ActiveClock implements Clock {
  #blockedSince: number | undefined;
  #blockedTotal = 0;

  get blocked(): boolean {
    return this.#blockedSince !== undefined;
  }

  block(): void {
    this.#blockedSince ??= monotonicMs();
  }

  unblock(): void {
    if (this.#blockedSince === undefined) return;
    this.#blockedTotal += monotonicMs() - this.#blockedSince;
    this.#blockedSince = undefined;
  }

  now(): number {
    return monotonicMs();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const end = this.active() + ms;
    for (let left = ms; left > 0 && !signal.aborted; left = end - this.active()) {
      await systemClock.sleep(this.blocked ? Math.max(left, BLOCKED_POLL_MS) : left, signal);
    }
  }

  active(): number {
    const now = monotonicMs();
    const blockedNow = this.#blockedSince === undefined ? 0 : now - this.#blockedSince;
    return now - this.#blockedTotal - blockedNow;
  }
}
