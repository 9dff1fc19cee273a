import { encode, encodeInPieces, isLong } from "../emit/encode.ts";
import type { Format, Tick } from "../emit/formats/format.ts";
import { SinkError, type Sink } from "../emit/sink.ts";
import type { Stamp } from "../emit/stamp.ts";
import type { Printed, Window } from "../emit/window.ts";
import { AgentError } from "../protocol/errors.ts";
import type { EventBody, EventBodyOf, LinefeedEvent } from "../protocol/event.ts";
import { LogError, type LogWriter } from "../sessions/event-log.ts";
import type { ActiveClock } from "./active-clock.ts";
import type { Cancellation } from "./cancellation.ts";

/** Lines are written together up to this many UTF-16 code units: few system calls, and never much text twice. */
const WRITE_UNITS = 64 * 1024;

export interface OutputOptions {
  window: Window;
  stamp: Stamp;
  format: Format;
  sink: Sink;
  /** Gets every line before the sink does; left out where lines are not kept. */
  log?: LogWriter | undefined;
  clock: ActiveClock;
  /** Called once, when nothing more can be written. */
  onFailure: (error: SinkError) => void;
}

/** Events that are printed together, and their lines, in pieces where they are long. */
interface Batch {
  events: LinefeedEvent[];
  lines: Iterable<string>;
}

/** Takes events out of the window, stamps and encodes them, and writes them as fast as the reader reads. */
export class Output {
  readonly #options: OutputOptions;
  /** Undefined once it has failed. */
  #log: LogWriter | undefined;
  #failure: SinkError | undefined;
  #lastPrinted: number;
  /** Whether a write is under way; one at a time. */
  #writing = false;
  /** The last write of a tick. Never rejects. */
  #ticked: Promise<void> | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#lastPrinted = options.clock.now();
    options.sink.onReaderClosed(() => this.#fail(new SinkError("reader_closed", "EPIPE")));
  }

  /** Why stdout could not be written, if it could not. */
  get failure(): SinkError | undefined {
    return this.#failure;
  }

  get #failed(): boolean {
    return this.#failure !== undefined;
  }

  /** When something was last written, on the clock. */
  get lastPrinted(): number {
    return this.#lastPrinted;
  }

  /** Resolves when the window has ended and everything is written, or cannot be. Rejects only on a bug. */
  async drain(): Promise<void> {
    const { tick } = this.#options.format;
    const timer = tick ? setInterval(() => this.#tick(tick), tick.intervalMs) : undefined;
    try {
      await this.#drain();
    } finally {
      clearInterval(timer);
    }
  }

  async #drain(): Promise<void> {
    const { window } = this.#options;
    for (let items = await window.take(); items; items = await window.take()) await this.#print(items);
  }

  async #print(items: readonly Printed[]): Promise<void> {
    for (let begin = 0; begin < items.length;) {
      const item = items[begin];
      if (item?.type === "aside") {
        await this.#write(item.line);
        begin += 1;
        continue;
      }
      const batch = this.#encode(items, begin);
      const failure = this.#keep(batch);
      if (failure) return this.#print(withNotice(items.slice(begin), failure));
      for (const text of this.#textOf(batch)) await this.#write(text);
      begin += batch.events.length;
    }
  }

  /** The next events, up to a line that is none: so many that their lines have {@link WRITE_UNITS} or a little more, or a long one. */
  #encode(items: readonly Printed[], begin: number): Batch {
    const events: LinefeedEvent[] = [];
    let text = "";
    for (let at = begin; at < items.length && text.length < WRITE_UNITS; at += 1) {
      const item = items[at];
      if (!item || item.type === "aside" || (isLong(item) && at > begin)) break;
      const event = this.#options.stamp(item);
      if (isLong(item)) return { events: [event], lines: encodeInPieces(event) };
      events.push(event);
      text += encode(event);
    }
    return { events, lines: [text] };
  }

  /**
   * Lines are kept before anybody sees them, so that a number never names two lines. Those that cannot be kept get their numbers
   * anew, behind the notice that says so: the last line of a run must stay the last.
   */
  #keep({ events, lines }: Batch): EventBodyOf<"notice"> | undefined {
    if (!this.#log) return undefined;
    try {
      const isLast = events.at(-1)?.type === "result";
      this.#log.append(lines, isLast);
      // Nothing follows; the session is free, however long a slow reader still takes.
      if (isLast) this.#log.close();
      return undefined;
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      this.#log = undefined;
      this.#options.stamp.takeBack(events.length);
      return logUnavailable(error);
    }
  }

  #textOf({ events, lines }: Batch): Iterable<string> {
    const { format } = this.#options;
    return format.addsLines ? lines : [events.map((event) => format.event(event) ?? "").join("")];
  }

  async #write(text: string): Promise<void> {
    const { sink, clock } = this.#options;
    if (this.#failure || text === "") return;
    this.#writing = true;
    try {
      if (this.#ticked) {
        clock.block();
        await this.#ticked;
      }
      const rest = this.#failed ? undefined : sink.write(text);
      if (rest) {
        clock.block();
        await rest;
      }
    } catch (error) {
      this.#fail(SinkError.from(error));
    } finally {
      this.#writing = false;
      clock.unblock();
      this.#lastPrinted = clock.now();
    }
  }

  /** While a reader is blocked, nothing more is put before him. */
  #tick(tick: Tick): void {
    if (this.#writing || this.#ticked || this.#failure) return;
    const text = tick.text();
    if (text === "") return;
    const failed = (error: unknown) => this.#fail(SinkError.from(error));
    try {
      const rest = this.#options.sink.write(text);
      this.#ticked = rest?.catch(failed).finally(() => {
        this.#ticked = undefined;
      });
    } catch (error) {
      failed(error);
    }
  }

  #fail(error: SinkError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#options.onFailure(error);
  }
}

/** What is said when lines cannot be kept any more. */
export function logUnavailable({ message }: LogError): EventBodyOf<"notice"> {
  return {
    type: "notice",
    level: "warning",
    code: "log_unavailable",
    message: `this session is not kept from here on: ${message}`,
  };
}

/** Nothing stands before `init`. */
function withNotice(items: readonly Printed[], notice: EventBody): Printed[] {
  return items.toSpliced(items[0]?.type === "init" ? 1 : 0, 0, notice);
}

/**
 * Waits until everything is written. From the first signal on the reader has `timeoutMs`, counted anew while it
 * takes bytes; then, or at a second signal, the sink is given up. Returns whether it was.
 */
export async function drainOrGiveUp(
  drained: Promise<void>,
  sink: Sink,
  cancellation: Cancellation,
  timeoutMs: number,
): Promise<boolean> {
  let givenUp = false;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => {
    givenUp = true;
    sink.giveUp();
  };
  const limited = cancellation.signals(1).then(() => {
    let taken = sink.taken;
    timer = setInterval(() => {
      if (sink.taken === taken) giveUp();
      taken = sink.taken;
    }, timeoutMs);
    return cancellation.signals(2);
  });
  // Neither may come; then nobody waits for them.
  const impatient = limited.then(giveUp);
  try {
    await Promise.race([drained, impatient]);
    await drained;
  } finally {
    clearInterval(timer);
  }
  return givenUp;
}

/** Why nothing more can be printed, for the last word and for the person. */
export function outputError(error: SinkError): AgentError {
  if (error.kind === "reader_closed")
    return new AgentError("reader_closed", `${error.message}; the agent was stopped`);
  const cure = error.errno === "ENOSPC" ? "make room on the disk" : "check where stdout goes";
  return new AgentError("io", `${error.message}; ${cure}`);
}
