import type { Connection } from "./connection.ts";
import { asEntries, asList, asRead, type Entry } from "./replies.ts";

/** A page is to have about so much, in bytes, and its first as many lines. */
const PAGE_BYTES = 512 * 1024;
const FIRST_LINES = 16;
const MOST_LINES = 4096;

/** The lines of a log in the store, a page at a time. A page holds as many as the last one makes one expect to be few bytes. */
export class Pages {
  readonly #connection: Connection;
  readonly #stream: string;
  #count = FIRST_LINES;

  constructor(connection: Connection, stream: string) {
    this.#connection = connection;
    this.#stream = stream;
  }

  /** The lines behind this one; none if there are none now. @throws StoreError */
  async after(seq: number): Promise<Entry[]> {
    const args = [this.#stream, `${seq + 1}-0`, "+", "COUNT", String(this.#count)];
    return this.#sized(asEntries(await this.#connection.callForBytes("XRANGE", args)));
  }

  /** The same backwards, from the line before this one; undefined: from the last one. @throws StoreError */
  async before(seq?: number): Promise<Entry[]> {
    if (seq !== undefined && seq <= 1) return [];
    const end = seq === undefined ? "+" : `${seq - 1}-0`;
    const args = [this.#stream, end, "-", "COUNT", String(this.#count)];
    return this.#sized(asEntries(await this.#connection.callForBytes("XREVRANGE", args)));
  }

  /** The lines behind this one; waits so long for them if there are none, in ms. @throws StoreError */
  async waitAfter(seq: number, waitMs: number): Promise<Entry[]> {
    const args = [
      "COUNT",
      String(this.#count),
      "BLOCK",
      String(Math.ceil(waitMs)),
      "STREAMS",
      this.#stream,
      `${seq}-0`,
    ];
    return this.#sized(asEntries(asRead(await this.#connection.callForBytes("XREAD", args, waitMs))));
  }

  #sized(entries: Entry[]): Entry[] {
    const bytes = entries.reduce((sum, { line }) => sum + line.length, 1);
    if (entries.length > 0) {
      const fitting = Math.floor((PAGE_BYTES * entries.length) / bytes);
      // A few short lines say little about the next.
      this.#count = Math.max(1, Math.min(fitting, this.#count * 4, MOST_LINES));
    }
    return entries;
  }
}

/** One line; undefined if the store does not have it. @throws StoreError */
export async function lineAt(
  connection: Connection,
  stream: string,
  seq: number,
): Promise<Buffer | undefined> {
  const reply = await connection.callForBytes("XRANGE", [stream, `${seq}-0`, `${seq}-0`]);
  return asEntries(reply)[0]?.line;
}

/** The first line that the store has; undefined if it has none. @throws StoreError */
export async function firstEntry(connection: Connection, stream: string): Promise<Entry | undefined> {
  return asEntries(
    asList(await connection.callForBytes("XRANGE", [stream, "-", "+", "COUNT", "1"]), "XRANGE"),
  )[0];
}

/** All lines behind one, each with its LF, several at a time. @throws StoreError; the reason of the signal. */
export async function* bytesAfter(
  connection: Connection,
  stream: string,
  seq: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const pages = new Pages(connection, stream);
  let at = seq;
  for (let page = await pages.after(at); page.length > 0; page = await pages.after(at)) {
    signal?.throwIfAborted();
    yield bytesOf(page);
    at = page.at(-1)?.seq ?? at;
  }
}

/** The lines, each with its LF. */
export function bytesOf(entries: readonly Entry[]): Buffer {
  return Buffer.concat(entries.flatMap(({ line }) => [line, LF]));
}

const LF = Buffer.from("\n");
