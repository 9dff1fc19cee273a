import type { LinefeedEvent } from "../protocol/event.ts";
import { OrderChecker } from "../protocol/order.ts";
import type { FaultKind } from "./faults.ts";
import { LineRules, type LineFault } from "./line-rules.ts";
import { EventParser } from "./parser.ts";
import { Transcript } from "./transcript.ts";

/** What only the whole of a run shows; the rest of a transcript's faults are found line by line here. */
const OF_THE_WHOLE: readonly FaultKind[] = ["mismatch", "usage_mismatch"];

/**
 * Holds a stream against everything that the protocol promises: how lines are written, the schema of each event, the
 * order of events, deltas that make up their message, totals that are sums. Memory is in proportion to one run.
 */
export class StreamCheck {
  readonly #rules = new LineRules();
  readonly #parser: EventParser;
  readonly #order = new OrderChecker();
  #transcript = new Transcript();
  #events = 0;
  #runs = 0;
  #unknown = 0;

  constructor() {
    this.#parser = new EventParser({ onInvalid: "yield", validate: "full" });
  }

  /** Events of types that a later version may have; they are no fault. */
  get unknown(): number {
    return this.#unknown;
  }

  get events(): number {
    return this.#events;
  }

  get runs(): number {
    return this.#runs;
  }

  /** Lines so far, blank ones included. */
  get lines(): number {
    return this.#rules.lines;
  }

  /** The faults of the lines that this piece completes, in their order. */
  push(chunk: Uint8Array | string): LineFault[] {
    this.#parser.push(chunk);
    return inOrder([...this.#rules.push(chunk), ...this.#items()]);
  }

  /** The faults of the last line, and of the stream that ends with it. */
  end(): LineFault[] {
    this.#parser.end();
    const last = inOrder([...this.#rules.end(), ...this.#items()]);
    return [...last, ...this.#order.end().map((message) => ({ line: this.lines, message }))];
  }

  *#items(): Generator<LineFault> {
    for (let item = this.#parser.next(); item; item = this.#parser.next()) {
      const { line } = this.#parser;
      this.#events += 1;
      if (item.type === "invalid") {
        yield { line, message: item.message.replace(/^line \d+: /, "") };
      } else if (item.type === "unknown") {
        this.#unknown += 1;
        for (const message of this.#order.checkUnknown(item)) yield { line, message };
      } else {
        for (const message of this.#check(item)) yield { line, message };
      }
    }
  }

  *#check(event: LinefeedEvent): Generator<string> {
    yield* this.#order.check(event);
    if (event.type === "init" || event.type === "session") this.#transcript = new Transcript();
    if (event.type === "result") this.#runs += 1;
    const known = this.#transcript.faults.length;
    this.#transcript.apply(event);
    for (const { kind, message } of this.#transcript.faults.slice(known)) {
      if (OF_THE_WHOLE.includes(kind)) yield message;
    }
  }
}

function inOrder(faults: LineFault[]): LineFault[] {
  return faults.toSorted((a, b) => a.line - b.line);
}
