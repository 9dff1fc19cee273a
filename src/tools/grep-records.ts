/** A line, a file or a count, as `rg --null` prints them. */
export interface GrepRecord {
  path: string;
  /** What stands behind the path: `12:text` of a match, `12-text` of its context, a count; empty where files are listed. */
  rest: string;
  /** Whether lines were left out before this one. */
  gap: boolean;
}

const GAP = "--\n";
// What ripgrep prints on stdout about a file that turns out to be binary; it has no NUL.
const BINARY =
  /^[^\0]*?: (?:binary file matches|WARNING: stopped searching binary file after match) \(found "\\0" byte around offset \d+\)\n/;

/**
 * Takes ripgrep's output apart, wherever it is cut. The path stands first and is ended by NUL, so that no name
 * of a file, with line ends or colons in it, can pass for anything else.
 */
export class GrepSplitter {
  readonly #linesFollow: boolean;
  #rest = "";
  #gap = false;
  #binary = 0;

  /** `linesFollow`: whether something stands behind the path. */
  constructor(linesFollow: boolean) {
    this.#linesFollow = linesFollow;
  }

  /** How many files turned out to be binary. */
  get binary(): number {
    return this.#binary;
  }

  push(text: string): GrepRecord[] {
    this.#rest += text;
    const records: GrepRecord[] = [];
    let at = 0;
    for (let next = this.#next(at); next !== undefined; next = this.#next(at)) {
      at = next.end;
      if (next.record) records.push(next.record);
    }
    this.#rest = this.#rest.slice(at);
    return records;
  }

  /** What is left when the output is over: the word about a binary file may have come last. */
  end(): void {
    if (BINARY.test(this.#rest)) this.#binary += 1;
  }

  #next(at: number): { end: number; record?: GrepRecord } | undefined {
    if (this.#rest.startsWith(GAP, at)) {
      this.#gap = true;
      return { end: at + GAP.length };
    }
    const nul = this.#rest.indexOf("\0", at);
    if (nul === -1) return undefined;
    const binary = BINARY.exec(this.#rest.slice(at, nul));
    if (binary) {
      this.#binary += 1;
      return { end: at + binary[0].length };
    }
    const end = this.#linesFollow ? this.#rest.indexOf("\n", nul) : nul;
    if (end === -1) return undefined;
    const record = {
      path: this.#rest.slice(at, nul),
      rest: this.#rest.slice(nul + 1, Math.max(end, nul + 1)),
      gap: this.#gap,
    };
    this.#gap = false;
    return { end: end + 1, record };
  }
}
