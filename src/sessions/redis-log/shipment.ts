import type { Connection } from "./connection.ts";
import { FileLines, type Batch } from "./file-lines.ts";
import type { SessionKeys } from "./keys.ts";
import { appendLines, type AppendFacts } from "./scripts.ts";

/** So many batches may be under way at a time: memory stays bounded, and the store always has one to work on. */
const IN_FLIGHT = 4;

/** The store has fewer lines than it had: it was emptied, or another one answers now that was not up to date. */
export class LinesLostError extends Error {
  override readonly name = "LinesLostError";
}

/** Another writer has the session; this one must not go on. */
export class FencedError extends Error {
  override readonly name = "FencedError";
  /** Whether the session was removed, and so is nobody's. */
  readonly isRemoved: boolean;

  constructor(message: string, { isRemoved = false }: { isRemoved?: boolean } = {}) {
    super(message);
    this.isRemoved = isRemoved;
  }
}

/** Copies one log file to one stream, as far as the file goes. */
export class Shipment {
  readonly #lines: FileLines;
  readonly #keys: SessionKeys;
  readonly #facts: AppendFacts;
  #arrived: { seq: number; end: number } = { seq: 0, end: 0 };

  constructor(path: string, keys: SessionKeys, facts: AppendFacts) {
    this.#lines = new FileLines(path);
    this.#keys = keys;
    this.#facts = facts;
  }

  /** What the store has: up to which line, and how many bytes of the file that is, as far as it came from here. */
  get arrived(): Readonly<{ seq: number; end: number }> {
    return this.#arrived;
  }

  /** The field of `meta` that says how far the stream has come. */
  get field(): string {
    return this.#facts.field;
  }

  /** Goes on behind the line that the store has last. */
  async beginBehind(seq: number): Promise<void> {
    await this.#lines.rewind(seq);
    this.#arrived = { seq, end: this.#lines.end };
  }

  /**
   * Copies what is there, several batches at a time. `onArrived` is called whenever some have arrived.
   * @throws FencedError, LinesLostError, StoreError; the system's error if the file cannot be read.
   */
  async shipAll(connection: Connection, onArrived: () => void): Promise<void> {
    const underWay: Promise<void>[] = [];
    try {
      for (let batch = await this.#lines.next(); batch; batch = await this.#lines.next()) {
        if (underWay.length >= IN_FLIGHT) await underWay.shift();
        const sent = this.#send(connection, batch).then(onArrived);
        // It is looked at in its turn.
        sent.catch(() => undefined);
        underWay.push(sent);
      }
      for (const sent of underWay) await sent;
    } catch (error) {
      await Promise.allSettled(underWay);
      throw error;
    }
  }

  /** Renews the lease. @throws as {@link shipAll}. */
  async renew(connection: Connection): Promise<void> {
    this.#check(await appendLines(connection, this.#keys, this.#facts, this.#arrived.seq, []));
  }

  close(): Promise<void> {
    return this.#lines.close();
  }

  async #send(connection: Connection, batch: Batch): Promise<void> {
    const lines = batch.lines.flatMap(({ seq, line }) => [String(seq), line]);
    this.#check(await appendLines(connection, this.#keys, this.#facts, batch.prev, lines));
    this.#arrived = { seq: batch.last, end: batch.end };
    this.#lines.keep(batch);
  }

  #check({ kind, seq }: Awaited<ReturnType<typeof appendLines>>): void {
    if (kind === "fenced") throw new FencedError("another run has carried the session on");
    if (kind === "lost") throw new LinesLostError(`the store has only ${seq} lines of what it had`);
  }
}
