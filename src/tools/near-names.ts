import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const SUGGESTIONS = 3;
/** A folder with more entries than this is not searched: comparing would take too long. */
const MAX_ENTRIES = 10_000;

/** Paths of entries in the same folder whose names are close to a name that does not exist. Never rejects. */
export async function nearNames(path: string): Promise<string[]> {
  const folder = dirname(path);
  const entries = await readdir(folder).catch(() => []);
  if (entries.length > MAX_ENTRIES) return [];
  const wanted = basename(path).toLowerCase();
  const ranked = entries
    .map((name) => ({ name, distance: distance(wanted, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(wanted.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return ranked.slice(0, SUGGESTIONS).map(({ name }) => join(folder, name));
}

/** Names that differ only in their ending are close; otherwise it is the edit distance. */
function distance(a: string, b: string): number {
  return stem(a) === stem(b) ? 1 : editDistance(a, b);
}

function stem(name: string): string {
  return name.replace(/(?<=.)\..*$/, "");
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
