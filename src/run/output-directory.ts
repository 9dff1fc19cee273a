import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateFolder } from "../sessions/private-folder.ts";

/** So many runs may hold a folder with a fixed name at the same time. */
const FIXED_NAMES = 10_000;

export interface OutputDirectoryOptions {
  /** The session's folder for outputs, which keeps them; undefined: a temporary one, which goes with the run. */
  kept: string | undefined;
  /** Whether the name of a temporary one is no chance. */
  hasFixedName: boolean;
  /** Gets the folder's real path once it exists. */
  onMade: (path: string) => void;
}

/** The folder for whole tool outputs: made on first use. */
export class OutputDirectory {
  readonly #options: OutputDirectoryOptions;
  #path: string | undefined;

  constructor(options: OutputDirectoryOptions) {
    this.#options = options;
  }

  /** @throws the system's error if the folder cannot be made. */
  get(): string {
    if (this.#path === undefined) {
      this.#path = realpathSync(this.#make());
      this.#options.onMade(this.#path);
    }
    return this.#path;
  }

  /** Removes a temporary folder. @throws the system's error. */
  remove(): void {
    const isTemporary = this.#options.kept === undefined;
    if (isTemporary && this.#path !== undefined)
      rmSync(this.#path, { recursive: true, force: true, maxRetries: 3 });
    this.#path = undefined;
  }

  #make(): string {
    const { kept, hasFixedName } = this.#options;
    if (kept === undefined) return hasFixedName ? makeFixed() : mkdtempSync(join(tmpdir(), "linefeed-"));
    makePrivateFolder(kept);
    return kept;
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
