/** Wakes whoever waits; one that is rung while nobody waits wakes the next at once. */
export class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Resolves when it is rung, at the latest after so many ms. Returns whether it was. One waits at a time. */
  async wait(limitMs: number): Promise<boolean> {
    if (!this.#isRung) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, limitMs);
      });
      clearTimeout(timer);
      this.#wake = undefined;
    }
    const wasRung = this.#isRung;
    this.#isRung = false;
    return wasRung;
  }
}
