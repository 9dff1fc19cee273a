const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when a signal is aborted, or at once if it is. However many wait for the same signal, it has one listener: at
 * the eleventh Node would warn of a leak. Returns what takes the listener off.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const listeners = listenersOf.get(signal) ?? listenTo(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  listenersOf.set(signal, listeners);
  // It stays for the signal's life, and holds nothing but the set.
  signal.addEventListener("abort", () => listeners.forEach((listener) => listener()), { once: true });
  return listeners;
}
