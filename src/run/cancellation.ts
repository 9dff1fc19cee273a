import { AgentError } from "../protocol/errors.ts";
import { SIGNALS, type SignalName } from "../protocol/words.ts";

/** Everything that can end a run from outside comes together here; the first reason counts. */
export class Cancellation {
  readonly #controller = new AbortController();
  #reasonSignal: SignalName | null = null;
  #signals: SignalName[] = [];
  #waiting: (() => void)[] = [];

  /** Its `reason` is an AgentError that says why. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The signal that is the reason of the end, if one is. */
  get reasonSignal(): SignalName | null {
    return this.#reasonSignal;
  }

  /** The first signal that came, be it the reason or not. */
  get firstSignal(): SignalName | null {
    return this.#signals[0] ?? null;
  }

  cancel(reason: AgentError): void {
    this.#controller.abort(reason);
  }

  /** A signal ends the run, if nothing else has; what it means for slow readers see {@link signals}. */
  onSignal(name: SignalName): void {
    if (!this.signal.aborted) this.#reasonSignal = name;
    this.#signals.push(name);
    this.cancel(new AgentError("cancelled", messageOf(name)));
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when so many signals have come: from the first on a reader has limited time, the second ends it. */
  async signals(count: 1 | 2): Promise<void> {
    while (this.#signals.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }
}

function messageOf(name: SignalName): string {
  if (name !== "SIGHUP") return `the run was ended by ${name}`;
  return "the run was ended by SIGHUP: its terminal or parent has gone (nohup does not help, since Node resets it)";
}

/**
 * Turns the process's signals into a cancellation, those in `early` at once. Returns what takes the
 * handlers off again.
 */
export function watchSignals(
  cancellation: Cancellation,
  early: readonly NodeJS.Signals[],
  names: readonly SignalName[] = SIGNALS,
): () => void {
  const handlers = names.map((name) => {
    const handler = () => cancellation.onSignal(name);
    process.on(name, handler);
    if (early.includes(name)) handler();
    return () => process.off(name, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
}
