export function median(numbers) {
  return quantile(numbers, 0.5);
}

/** Between two neighbours it is interpolated. */
export function quantile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  return below + (above - below) * (position - Math.floor(position));
}

/** The median distance from the median: half of the rounds lie within it. */
export function spread(numbers) {
  const middle = median(numbers);
  return median(numbers.map((number) => Math.abs(number - middle)));
}
