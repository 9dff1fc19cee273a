/** Edits between two words: insertions, deletions, replacements, and swaps of neighbours. */
export function wordDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const above = rows[row - 1] ?? [];
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let least = Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, (rows[row - 2]?.[column - 2] ?? 0) + 1);
      }
      line.push(least);
    }
    rows.push(line);
  }
  return rows[a.length]?.[b.length] ?? Number.POSITIVE_INFINITY;
}
