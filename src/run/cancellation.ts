import { AgentError } from "../protocol/errors.ts";
import { SIGNALS, type SignalName } from "../protocol/words.ts";

/** Everything that can end a run from outside comes together here; the first reason counts. */
export class Cancellation {
  readonly #controller = new AbortController();
  #signalName: SignalName | null = null;
  #impatient = false;
  #onImpatience: (() => void) | undefined;

  /** Its `reason` is an AgentError that says why. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The signal that ended the run, if it was one. */
  get signalName(): SignalName | null {
    return this.#signalName;
  }

  cancel(reason: AgentError): void {
    this.#controller.abort(reason);
  }

  /** The first signal ends the run in order, a second one ends the wait for a slow reader. */
  onSignal(name: SignalName): void {
    if (this.#signalName !== null) {
      this.#impatient = true;
      this.#onImpatience?.();
      return;
    }
    if (!this.signal.aborted) this.#signalName = name;
    this.cancel(new AgentError("cancelled", messageOf(name)));
  }

  /** Calls back when a second signal has come. */
  onImpatience(callback: () => void): void {
    this.#onImpatience = callback;
    if (this.#impatient) callback();
  }
}

function messageOf(name: SignalName): string {
  if (name !== "SIGHUP") return `the run was ended by ${name}`;
  return "the run was ended by SIGHUP: its terminal or parent has gone (nohup does not help, since Node resets it)";
}

/** Turns the process's signals into a cancellation. Returns what takes the handlers off again. */
export function watchSignals(cancellation: Cancellation): () => void {
  const handlers = SIGNALS.map((name) => {
    const handler = () => cancellation.onSignal(name);
    process.on(name, handler);
    return () => process.off(name, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
}
