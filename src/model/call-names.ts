// Every provider takes only names and ids of calls that look like its own. A history may hold others: those of
// another provider (`functions.Bash:0`), and names that a model made up. Requests are mended, streams never.

const FOREIGN = /[^a-zA-Z0-9_-]/g;
const LONGEST_NAME = 64;

/** A tool's name as every provider takes it. */
export function callName(name: string): string {
  return name.replaceAll(FOREIGN, "_").slice(0, LONGEST_NAME) || "unknown";
}

/** Ids of calls as a provider takes them: the same one for the same call all through a request, and no two alike. */
export class CallIds {
  readonly #longest: number;
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** @param longest how many characters an id may have. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  of(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const plain = id.replaceAll(FOREIGN, "_").slice(0, this.#longest) || "call";
    let free = plain;
    for (let n = 2; this.#taken.has(free); n += 1) {
      const suffix = `_${n}`;
      free = plain.slice(0, this.#longest - suffix.length) + suffix;
    }
    this.#ids.set(id, free);
    this.#taken.add(free);
    return free;
  }
}
