import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { followFile } from "./follow-file.ts";
import { headOf, WholeLines } from "./whole-lines.ts";

const LF = 0x0a;
/** So much is looked at at once from the end of a log, in bytes. */
const TAIL_BYTES = 64 * 1024;
/** In the middle of a run its writer is asked no more often, in ms: many that ask after each line would keep it from writing. */
const ASK_AGAIN_MS = 200;
/** A writer that is seen to be gone is looked for once more after this time, in ms: it may be just starting. */
const SECOND_LOOK_MS = 400;

export interface AttachOptions {
  /** The log. */
  path: string;
  /** The `seq` of the first line. */
  from: number;
  /** Begin so many lines before the end instead. */
  tail: number | undefined;
  /** Whether to wait for what is written from now on. */
  follow: boolean;
  /** Whether the session has a writer. */
  isAlive: () => Promise<boolean>;
  signal: AbortSignal;
}

/** How a log ended: with a last word, without one and without a writer, or, not being followed, in the middle of a run. */
export type LogEnd = { kind: "result"; line: string } | { kind: "lost" } | { kind: "open" };

/** The lines of a session's log: what is there, then what its writer appends, without a seam. */
export class Attachment {
  readonly #options: AttachOptions;
  readonly #lines: WholeLines;
  #seenAliveAt = -Infinity;

  constructor(options: AttachOptions) {
    this.#options = options;
    this.#lines = new WholeLines(options.tail === undefined ? options.from : 1);
  }

  /** What the log ended with, once {@link lines} has. */
  get end(): LogEnd {
    const { last } = this.#lines;
    if (last && headOf(last)?.type === "result") return { kind: "result", line: last.toString("utf8") };
    return this.#options.follow ? { kind: "lost" } : { kind: "open" };
  }

  /**
   * Whole lines as bytes, in order, each once. Ends at a last word when the session has no writer, or when its writer has
   * died without one; without `follow`, when everything that is there has been read.
   *
   * @throws the system's error if the log cannot be read; FollowError if it is cut, removed or replaced; the reason of
   * the signal.
   */
  async *lines(): AsyncGenerator<Buffer, void, undefined> {
    const { path, tail, follow, signal } = this.#options;
    const begin = tail === undefined ? 0 : await beginOfTail(path, Math.max(tail, 1));
    let isFirst = tail === 0;
    const isOver = () => !follow || this.#isOver();
    for await (const piece of followFile(path, { begin, signal, isOver })) {
      let lines = this.#lines.push(piece);
      if (isFirst && lines.length > 0) {
        lines = lines.subarray(lines.indexOf(LF) + 1);
        isFirst = false;
      }
      if (lines.length > 0) yield lines;
    }
  }

  async #isOver(): Promise<boolean> {
    const { isAlive, signal } = this.#options;
    const isEnd = this.#lines.last && headOf(this.#lines.last)?.type === "result";
    if (!isEnd && performance.now() - this.#seenAliveAt < ASK_AGAIN_MS) return false;
    if (await isAlive()) {
      this.#seenAliveAt = performance.now();
      return false;
    }
    if (this.#lines.last && headOf(this.#lines.last)?.type === "result") return true;
    await delay(SECOND_LOOK_MS, undefined, { signal });
    return !(await isAlive());
  }
}

/** Where the last `count` whole lines begin, in bytes. */
async function beginOfTail(path: string, count: number): Promise<number> {
  const file = await open(path);
  try {
    return await findBegin(file, count);
  } finally {
    await file.close();
  }
}

async function findBegin(file: FileHandle, count: number): Promise<number> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(TAIL_BYTES);
  // The LF before the first of them is one more than there are lines.
  let left = count + 1;
  for (let end = size; end > 0;) {
    const begin = Math.max(0, end - TAIL_BYTES);
    const { bytesRead } = await file.read(buffer, 0, end - begin, begin);
    for (let at = buffer.subarray(0, bytesRead).lastIndexOf(LF); at !== -1;) {
      left -= 1;
      if (left === 0) return begin + at + 1;
      at = at === 0 ? -1 : buffer.lastIndexOf(LF, at - 1);
    }
    end = begin;
  }
  return 0;
}
