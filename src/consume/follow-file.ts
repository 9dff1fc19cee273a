import { watch, type FSWatcher } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** How much is read at once, in bytes. */
const CHUNK_BYTES = 256 * 1024;
/** A piece up to this size is copied out of the buffer that is read into, in bytes. */
const SHORT_BYTES = 64 * 1024;
/**
 * What is appended within this time is taken together, in ms: of a file that grows all the time each piece costs a wake-up of
 * every follower.
 */
const TOGETHER_MS = 4;
/** Watches miss changes on some file systems, so the file is looked at this often all the same, in ms. */
const POLL_MS = 250;

export interface FollowOptions {
  /** Where to begin, in bytes. Default: 0. */
  begin?: number;
  /** Ends the following at once, with its reason. */
  signal: AbortSignal;
  /**
   * Asked each time everything has been read: whether nothing more is to be waited for. What was written before the
   * answer is read all the same.
   */
  isOver: () => boolean | Promise<boolean>;
}

/** The file is not any more what it was when the following began; nobody knows what is missing. */
export class FollowError extends Error {
  override readonly name = "FollowError";
  readonly change: "cut" | "replaced" | "removed";

  constructor(change: FollowError["change"]) {
    super(`it ${CHANGES[change]} while it was followed`);
    this.change = change;
  }
}

const CHANGES = { cut: "became shorter", replaced: "was replaced by another file", removed: "was removed" };

/**
 * The bytes of a file that another process may still be writing: what is there, then what is appended, until
 * `isOver` says that it is enough.
 *
 * @throws the system's error if the file cannot be opened or read; FollowError if it became shorter, was removed or replaced;
 * the reason of `signal`.
 */
export async function* followFile(
  path: string,
  { begin = 0, signal, isOver }: FollowOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path);
  const pieces = new Pieces(file);
  const changes = new Changes(path, signal);
  let at = begin;
  let isLast = false;
  try {
    for (;;) {
      const changed = changes.next();
      signal.throwIfAborted();
      const piece = await pieces.at(at);
      if (piece.length > 0) {
        at += piece.length;
        isLast = false;
        yield piece;
        if (piece.length < CHUNK_BYTES) await delay(TOGETHER_MS);
      } else if (isLast) {
        return;
      } else if (await isOver()) {
        isLast = true;
      } else {
        await checkSame(file, path, at);
        await changed;
      }
    }
  } finally {
    changes.close();
    await file.close();
  }
}

class Pieces {
  readonly #file: FileHandle;
  #buffer = Buffer.allocUnsafe(CHUNK_BYTES);

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** What the file holds from there on, as far as one read goes; the caller's own. */
  async at(position: number): Promise<Buffer> {
    const buffer = this.#buffer;
    const { bytesRead } = await this.#file.read(buffer, 0, CHUNK_BYTES, position);
    const piece = buffer.subarray(0, bytesRead);
    if (bytesRead <= SHORT_BYTES) return Buffer.from(piece);
    this.#buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    return piece;
  }
}

async function checkSame(file: FileHandle, path: string, at: number): Promise<void> {
  const held = await file.stat();
  if (held.size < at) throw new FollowError("cut");
  const there = await stat(path).catch(() => undefined);
  if (!there) throw new FollowError("removed");
  if (there.ino !== held.ino || there.dev !== held.dev) throw new FollowError("replaced");
}

/** Tells that a file may have changed. Asked before the file is read, so that no change falls between the two. */
class Changes {
  readonly #watcher: FSWatcher | undefined;
  readonly #signal: AbortSignal;
  readonly #wake = () => this.#resolve();
  #resolve: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#wake, { once: true });
    this.#watcher = watchFolder(dirname(path), basename(path), this.#wake);
  }

  /** Resolves at the next change, at the latest after the time of a poll, or on abort. */
  next(): Promise<void> {
    clearTimeout(this.#timer);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(resolve, POLL_MS);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#wake);
    this.#watcher?.close();
  }
}

/** Undefined where nothing can be watched (no inotify instances left): then polling has to do. */
function watchFolder(folder: string, name: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_event, changed) => {
      if (changed === null || changed === name) onChange();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
