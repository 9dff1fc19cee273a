/**
 * A controller that aborts with its parent, for the same reason. Call `unlink` when done: a run's signal
 * outlives thousands of calls. (AbortSignal.any keeps its sources referenced on Node 20.)
 */
export function linkAbort(parent: AbortSignal): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  return { controller, unlink: () => parent.removeEventListener("abort", onAbort) };
}
