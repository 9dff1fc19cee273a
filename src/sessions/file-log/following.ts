import { open, type FileHandle } from "node:fs/promises";
import { followFile, FollowError } from "../../consume/follow-file.ts";
import {
  LogChangedError,
  type FollowOptions,
  type LogEnd,
  type LogError,
  type LogFollowing,
} from "../event-log.ts";
import type { SessionPaths } from "./paths.ts";
import { presenceOf } from "./presence.ts";
import { headOf, WholeLines } from "./whole-lines.ts";
import { logError } from "./writer.ts";

const LF = 0x0a;
/** So much is looked at at once from the end of a log, in bytes. */
const TAIL_BYTES = 64 * 1024;
/** In the middle of a run its writer is asked no more often, in ms: many that ask after each line would keep it from writing. */
const ASK_AGAIN_MS = 200;

/** A session's log as a file: what is there, then what its writer appends, without a seam. */
export class FileFollowing implements LogFollowing {
  readonly #paths: SessionPaths;
  readonly #options: FollowOptions;
  readonly #lines: WholeLines;
  #seenAliveAt = -Infinity;

  constructor(paths: SessionPaths, options: FollowOptions) {
    this.#paths = paths;
    this.#options = options;
    this.#lines = new WholeLines(options.tail === undefined ? options.from : 1);
  }

  get end(): LogEnd {
    const { last } = this.#lines;
    if (last && headOf(last)?.type === "result") return { kind: "result", line: last.toString("utf8") };
    return this.#options.wait ? { kind: "lost" } : { kind: "open" };
  }

  async *lines(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* this.#read();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw followError(error);
    }
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    const { tail, wait, signal } = this.#options;
    const { events: path } = this.#paths;
    const begin = tail === undefined ? 0 : await beginOfTail(path, Math.max(tail, 1));
    let isFirst = tail === 0;
    const isOver = () => !wait || this.#isOver();
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
    const isEnd = this.end.kind === "result";
    if (!isEnd && performance.now() - this.#seenAliveAt < ASK_AGAIN_MS) return false;
    const presence = await presenceOf(this.#paths);
    if (presence === "alive") this.#seenAliveAt = performance.now();
    if (presence === "unknown") return isEnd;
    return presence === "none";
  }
}

function followError(error: unknown): LogError {
  return error instanceof FollowError
    ? new LogChangedError(error.change, error.message, { cause: error })
    : logError(error);
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
