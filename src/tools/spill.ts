import { closeSync, fchmodSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode, systemMessage } from "./text.ts";

/** How many names are tried: a provider may give the same id to several calls of a session. */
const NAMES = 1000;

/**
 * The whole output of a call on disk. Written synchronously, so that it is never behind and nothing queues
 * up in memory. A failure drops the file and is kept in `failure`; it never throws.
 */
export class Spill {
  #fd: number | undefined;
  #path: string | null = null;
  #failure: string | null = null;

  /** Makes the file, readable by its owner only. */
  constructor(directory: () => string, toolUseId: string) {
    try {
      this.#create(directory(), toolUseId.replace(/[^\w-]/g, "_").slice(0, 100) || "output");
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Where the whole output is; null if it could not be kept. */
  get path(): string | null {
    return this.#path;
  }

  /** Why it could not be kept. */
  get failure(): string | null {
    return this.#failure;
  }

  write(text: string): void {
    if (this.#fd === undefined) return;
    try {
      // With a descriptor this goes on after a short write, at the file's position.
      writeFileSync(this.#fd, text);
    } catch (error) {
      this.#fail(error);
    }
  }

  close(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    try {
      closeSync(fd);
    } catch (error) {
      // Network file systems tell of a full disk only now.
      this.#fail(error);
    }
  }

  #create(directory: string, name: string): void {
    for (let number = 1; number <= NAMES; number += 1) {
      const path = join(directory, number === 1 ? `${name}.txt` : `${name}-${number}.txt`);
      try {
        this.#fd = openSync(path, "wx", 0o600);
        this.#path = path;
        break;
      } catch (error) {
        if (errorCode(error) !== "EEXIST" || number === NAMES) throw error;
      }
    }
    // Whatever the umask took away.
    if (this.#fd !== undefined) fchmodSync(this.#fd, 0o600);
  }

  #fail(error: unknown): void {
    this.#failure = systemMessage(error);
    const path = this.#path;
    this.#path = null;
    this.close();
    if (path !== null) rmSync(path, { force: true });
  }
}
