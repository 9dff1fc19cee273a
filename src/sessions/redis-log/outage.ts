import type { AgentError } from "../../protocol/errors.ts";
import type { LogTrouble } from "../event-log.ts";

/** An outage that is shorter is not worth a word, in ms. */
const WORTH_TELLING_MS = 1000;

/** What is told of a store that cannot be used for a while: each outage once, and that it is over. */
export class Outage {
  readonly #path: string;
  #tell: ((trouble: LogTrouble) => void) | undefined;
  #down: { since: number; error: AgentError; isTold: boolean } | undefined;
  #taken: string | undefined;
  /** The first line that the store had and has no more. */
  #lostFrom: number | undefined;

  /** @param path where the lines are kept meanwhile. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Why the store cannot be used now, if that is so. */
  get error(): AgentError | undefined {
    return this.#down?.error;
  }

  onTrouble(tell: (trouble: LogTrouble) => void): void {
    this.#tell = tell;
    if (this.#taken !== undefined) this.tellTaken(this.#taken);
    if (this.#down) this.fail(this.#down.error);
  }

  /** Nothing more is told. */
  endTelling(): void {
    this.#tell = undefined;
  }

  /** It could not be used once more. */
  fail(error: AgentError): void {
    const now = performance.now();
    const down = (this.#down ??= { since: now, error, isTold: false });
    down.error = error;
    const isWorthIt = !error.retryable || now - down.since >= WORTH_TELLING_MS;
    if (!this.#tell || down.isTold || !isWorthIt) return;
    down.isTold = true;
    this.#tell({
      kind: "behind",
      message: `${error.message}; the run goes on, its lines are kept in ${this.#path}, and copied as soon as the store can be used`,
    });
  }

  /** The session is another run's now. */
  tellTaken(message: string): void {
    this.#taken = message;
    this.#tell?.({ kind: "taken", message });
  }

  /** It has no lines any more from this one on, which it had. */
  lose(seq: number): void {
    this.#lostFrom = Math.min(seq, this.#lostFrom ?? seq);
  }

  /** It has everything. */
  end(): void {
    const wasTold = this.#down?.isTold === true;
    const from = this.#lostFrom;
    this.#down = undefined;
    this.#lostFrom = undefined;
    if (from === undefined && !wasTold) return;
    const message =
      from === undefined
        ? "the store can be used again, and has all lines"
        : `the store had lost the lines from ${from} on (it was emptied, or a copy that was not up to date took its place); they were copied again`;
    this.#tell?.({ kind: "caught_up", message });
  }
}
