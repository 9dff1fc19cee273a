/** JSON that is nested deeper is parsed, but not everything can write it again. */
const DEEPEST = 1000;
const OPEN = /[[{]/g;

/** Whether a line's value is nested too deeply to be handed on. Costs next to nothing for a line with few brackets. */
export function isTooDeep(text: string, value: unknown): boolean {
  let brackets = 0;
  OPEN.lastIndex = 0;
  while (brackets <= DEEPEST && OPEN.test(text)) brackets += 1;
  return brackets > DEEPEST && isDeeperThan(value, DEEPEST);
}

/** Level by level, since a function that calls itself would fail where it is needed. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}
