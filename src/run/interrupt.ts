import { linkAbort } from "../agent/linked-abort.ts";
import { AgentError } from "../protocol/errors.ts";

/** Ends one turn and not the run. */
export class Interrupt {
  #controller: AbortController | undefined;

  /** Ends the turn that is under way, if one is. @param by what did it, in words. */
  interrupt(by: string): void {
    this.#controller?.abort(new AgentError("cancelled", `the turn was interrupted by ${by}`));
  }

  /** Does a turn under a signal that ends with the run's, and with an interruption. */
  async during<Result>(
    runSignal: AbortSignal,
    turn: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { controller, unlink } = linkAbort(runSignal);
    this.#controller = controller;
    try {
      return await turn(controller.signal);
    } finally {
      this.#controller = undefined;
      unlink();
    }
  }
}
