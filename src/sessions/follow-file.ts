import { watch, type FSWatcher } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** How much is read at once, in bytes. */
const CHUNK_BYTES = 256 * 1024;
/** Watches miss changes on some file systems, so the file is looked at this often all the same, in ms. */
const POLL_MS = 250;

export interface FollowOptions {
  /** Ends the following at once, with its reason. */
  signal: AbortSignal;
  /** Asked each time everything has been read: whether nothing more is to be waited for. */
  isOver: () => boolean;
}

/**
 * The bytes of a file that another process may still be writing: what is there, then what is appended, until
 * `isOver` says that it is enough.
 *
 * @throws the system's error if the file cannot be opened or read; an error if it became shorter, since then nobody knows
 * what is missing; the reason of `signal`.
 */
export async function* followFile(
  path: string,
  { signal, isOver }: FollowOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path);
  const changes = new Changes(path, signal);
  let at = 0;
  try {
    for (;;) {
      const changed = changes.next();
      signal.throwIfAborted();
      const chunk = await readAt(file, at);
      if (chunk.length > 0) {
        at += chunk.length;
        yield chunk;
        continue;
      }
      if ((await file.stat()).size < at) throw new Error("it became shorter while it was followed");
      if (isOver()) return;
      await changed;
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
