/**
 * Replaces each lone surrogate in the strings and keys of plain data by U+FFFD, however deep.
 *
 * A lone surrogate picked up from a page or a model would make the next request invalid JSON for a
 * strict parser, and a session could not go on. Returns `value` itself where there is nothing to do,
 * so that a long history costs one look at each string and no copy.
 *
 * @param value plain data, as `JSON.parse` gives it; own `__proto__` keys stay own plain keys.
 */
export function wellFormed<T>(value: T): T {
  // Sound, since strings stay strings and the shape stays as it is; TypeScript cannot see that.
  return mend(value) as T;
}

function mend(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) return mendArray(value);
  if (typeof value === "object" && value !== null) return mendObject(value);
  return value;
}

function mendArray(items: readonly unknown[]): readonly unknown[] {
  let mended: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const better = mend(item);
    if (better !== item) (mended ??= [...items])[index] = better;
  }
  return mended ?? items;
}

function mendObject(object: object): object {
  let changed = false;
  const entries = Object.entries(object).map(([key, item]: [string, unknown]) => {
    const better = mend(item);
    if (better !== item || !key.isWellFormed()) changed = true;
    return [key, better] as const;
  });
  // fromEntries defines properties, where an assignment to `__proto__` would set the prototype.
  return changed ? Object.fromEntries(entries.map(([key, item]) => [key.toWellFormed(), item])) : object;
}
