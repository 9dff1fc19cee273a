import { watch, type FSWatcher } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** How much is read at once, in bytes. */
const CHUNK_BYTES = 256 * 1024;
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
}

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
  const changes = new Changes(path, signal);
  let at = begin;
  let isLast = false;
  try {
    for (;;) {
      const changed = changes.next();
      signal.throwIfAborted();
      const chunk = await readAt(file, at);
      if (chunk.length > 0) {
        at += chunk.length;
        isLast = false;
        yield chunk;
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

async function readAt(file: FileHandle, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
  return buffer.subarray(0, bytesRead);
}

async function checkSame(file: FileHandle, path: string, at: number): Promise<void> {
  const held = await file.stat();
  if (held.size < at) throw new FollowError("it became shorter while it was followed");
  const there = await stat(path).catch(() => undefined);
  if (!there) throw new FollowError("it was removed while it was followed");
  if (there.ino !== held.ino || there.dev !== held.dev)
    throw new FollowError("it was replaced by another file while it was followed");
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
