/** The output of calls that is told as a whole each time, and what is new in it. */
export class OutputSoFar {
  /** What is known of each call that runs, in UTF-16 units. */
  readonly #units = new Map<string, number>();

  news(id: string, output: string): string {
    const known = this.#units.get(id) ?? 0;
    this.#units.set(id, Math.max(known, output.length));
    return output.slice(known);
  }

  forget(id: string): void {
    this.#units.delete(id);
  }
}
