export type SideBySideItem<T, R> = { index: number; value: T } | { index: number; result: R };

/**
 * Runs generators side by side, at most `limit` at a time, and hands on what they yield as it comes.
 * Each is pulled again only when its last value has been taken, so a slow taker slows all of them.
 * Leaving early, or a generator that throws, calls `onLeave`, then returns every generator that was begun
 * and waits for it.
 */
export async function* sideBySide<T, R>(
  generators: readonly AsyncGenerator<T, R, undefined>[],
  limit: number,
  onLeave: () => void,
): AsyncGenerator<SideBySideItem<T, R>, void, undefined> {
  const arrived: { index: number; next: IteratorResult<T, R> }[] = [];
  const failures: unknown[] = [];
  let wake: (() => void) | undefined;
  let begun = 0;
  let running = 0;

  const pull = (index: number, generator: AsyncGenerator<T, R, undefined>) => {
    generator.next().then(
      (next) => {
        arrived.push({ index, next });
        wake?.();
      },
      (error: unknown) => {
        failures.push(error);
        wake?.();
      },
    );
  };
  const beginMore = () => {
    for (; running < limit && begun < generators.length; begun += 1, running += 1) {
      const generator = generators[begun];
      if (generator) pull(begun, generator);
    }
  };

  try {
    beginMore();
    while (running > 0) {
      if (failures.length > 0) throw failures[0];
      const item = arrived.shift();
      if (!item) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { index, next } = item;
      if (next.done) {
        running -= 1;
        yield { index, result: next.value };
        beginMore();
      } else {
        yield { index, value: next.value };
        const generator = generators[index];
        if (generator) pull(index, generator);
      }
    }
  } finally {
    if (running > 0) onLeave();
    await Promise.allSettled(generators.slice(0, begun).map((generator) => generator.return(undefined as R)));
  }
}
