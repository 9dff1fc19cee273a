import { dirname } from "node:path";

/** How long the arguments that leave files out may be in all, in UTF-16 code units; systems allow some more. */
const ARGUMENT_UNITS = 256 * 1024;

/**
 * The files of a search that may not be read. They must be out of it before it begins: what it does with them,
 * a count, a complaint, the time it takes, would tell of their content. A folder that holds nothing else is left
 * out as one, so that a few globs do for many files. Paths are as ripgrep prints them, `./a/b`.
 */
export class ClosedFiles {
  readonly #closed: string[] = [];
  /** Folders with a file somewhere below that may be read. */
  readonly #openFolders = new Set<string>();

  add(path: string, mayRead: boolean): void {
    if (!mayRead) {
      this.#closed.push(path);
      return;
    }
    for (let folder = dirname(path); !this.#openFolders.has(folder); folder = dirname(folder)) {
      this.#openFolders.add(folder);
      if (folder === ".") break;
    }
  }

  get count(): number {
    return this.#closed.length;
  }

  /** Whether nothing is left to be searched. */
  get all(): boolean {
    return this.#openFolders.size === 0;
  }

  /** The options for ripgrep, to stand behind all other globs; undefined if there are too many. */
  args(): string[] | undefined {
    const globs = new Set(this.#closed.map((path) => `--glob=!${globOf(this.#topmost(path))}`));
    const units = [...globs].reduce((sum, glob) => sum + glob.length, 0);
    return units > ARGUMENT_UNITS ? undefined : [...globs];
  }

  #topmost(path: string): string {
    let top = path;
    for (
      let folder = dirname(path);
      folder !== "." && !this.#openFolders.has(folder);
      folder = dirname(folder)
    ) {
      top = folder;
    }
    return top;
  }
}

/** Anchored and taken literally, but for bytes that are no UTF-8: those we have not seen as they are. */
function globOf(path: string): string {
  return path
    .slice(1)
    .replaceAll(/[*?[\]{}\\!]/g, String.raw`\$&`)
    .replaceAll("\ufffd", "*");
}
