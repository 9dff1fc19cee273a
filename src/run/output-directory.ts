import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A temporary folder for whole tool outputs: made on first use, removed with the run. */
export class OutputDirectory {
  readonly #onMade: (path: string) => void;
  #path: string | undefined;

  /** `onMade` gets the folder's real path once it exists. */
  constructor(onMade: (path: string) => void) {
    this.#onMade = onMade;
  }

  /** @throws the system's error if the folder cannot be made. */
  get(): string {
    if (this.#path === undefined) {
      this.#path = realpathSync(mkdtempSync(join(tmpdir(), "linefeed-")));
      this.#onMade(this.#path);
    }
    return this.#path;
  }

  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true, maxRetries: 3 });
    this.#path = undefined;
  }
}
