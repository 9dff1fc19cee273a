import { AgentError } from "../protocol/errors.ts";
import type { ActiveClock } from "./active-clock.ts";
import type { Cancellation } from "./cancellation.ts";

/** Ends a run that takes longer than it may, on the clock that stands still while a reader is waited for. Never rejects. */
export async function watchTimeLimit(
  { timeoutMs }: { timeoutMs: number | undefined },
  clock: ActiveClock,
  cancellation: Cancellation,
  over: AbortSignal,
): Promise<void> {
  if (timeoutMs === undefined) return;
  await clock.sleep(timeoutMs, over);
  if (over.aborted) return;
  cancellation.cancel(
    new AgentError("timeout", `the run reached its limit of ${timeoutMs / 1000} s (--timeout)`),
  );
}
