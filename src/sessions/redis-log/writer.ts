import { setTimeout as delay } from "node:timers/promises";
import type { ControlHandler } from "../control.ts";
import type { LogError, LogTrouble, LogWriter, SessionFacts } from "../event-log.ts";
import { serveControlStream } from "./control.ts";
import type { Shipper } from "./shipper.ts";

/** What it takes to be asked over the store. */
export type Door = Omit<Parameters<typeof serveControlStream>[0], "handle">;

/** Writes to the files, which a shipper copies to the store. */
export class RedisLogWriter implements LogWriter {
  readonly #file: LogWriter;
  readonly #shipper: Shipper;
  readonly #door: Door;
  readonly #isClosed = new AbortController();
  #serving: Promise<void> = Promise.resolve();

  constructor(file: LogWriter, shipper: Shipper, door: Door) {
    this.#file = file;
    this.#shipper = shipper;
    this.#door = door;
  }

  get outputFolder(): string {
    return this.#file.outputFolder;
  }

  append(lines: string | Iterable<string>, durable: boolean): void {
    // Nothing is written that another run's lines stand against.
    if (this.#shipper.lost) throw this.#shipper.lost;
    this.#file.append(lines, durable);
    this.#shipper.wake();
  }

  async serve(handle: ControlHandler): Promise<void> {
    const { signal } = this.#isClosed;
    if (signal.aborted) return;
    this.#serving = serveControlStream({ ...this.#door, handle }, signal);
    await this.#file.serve(handle);
  }

  async describe(facts: SessionFacts): Promise<void> {
    await this.#file.describe(facts);
    this.#shipper.renewAbout();
  }

  onTrouble(tell: (trouble: LogTrouble) => void): void {
    this.#shipper.onTrouble(tell);
  }

  async delivered(signal: AbortSignal): Promise<LogError | undefined> {
    const missing = await this.#shipper.delivered(signal);
    // Whoever has asked for the end is to get his answer.
    if (this.#isClosed.signal.aborted) await Promise.race([this.#serving, whenAborted(signal)]);
    return missing;
  }

  close(): void {
    this.#isClosed.abort();
    this.#file.close();
    this.#shipper.close();
  }
}

async function whenAborted(signal: AbortSignal): Promise<void> {
  await delay(LONGEST_MS, undefined, { signal, ref: false }).catch(() => undefined);
}

/** No answer takes longer, in ms. */
const LONGEST_MS = 1000;
