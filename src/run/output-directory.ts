import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** So many runs may hold a folder with a fixed name at the same time. */
const FIXED_NAMES = 10_000;

/** A temporary folder for whole tool outputs: made on first use, removed with the run. */
export class OutputDirectory {
  readonly #make: () => string;
  readonly #onMade: (path: string) => void;
  #path: string | undefined;

  /** `onMade` gets the folder's real path once it exists; `hasFixedName`: its name is no chance. */
  constructor(onMade: (path: string) => void, hasFixedName = false) {
    this.#make = hasFixedName ? makeFixed : () => mkdtempSync(join(tmpdir(), "linefeed-"));
    this.#onMade = onMade;
  }

  /** @throws the system's error if the folder cannot be made. */
  get(): string {
    if (this.#path === undefined) {
      this.#path = realpathSync(this.#make());
      this.#onMade(this.#path);
    }
    return this.#path;
  }

  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true, maxRetries: 3 });
    this.#path = undefined;
  }
}

/** The first folder of a row of names that nobody has: what is there, be it a link, is never taken. */
function makeFixed(): string {
  for (let number = 1; ; number += 1) {
    const path = join(tmpdir(), `linefeed-deterministic-${number}`);
    try {
      mkdirSync(path, { mode: 0o700 });
      return path;
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EEXIST";
      if (!isTaken || number === FIXED_NAMES) throw error;
    }
  }
}
