// No imports of values here: the record is made before the first line is printed.

/** What was known of a file when a tool last read or wrote it. */
export interface SeenFile {
  /** Time of the last change in ns since 1970. */
  mtimeNs: bigint;
  /** In bytes. */
  size: bigint;
  /** SHA-256 of the content in hex; null where only a part of it was read. */
  hash: string | null;
}

/** The files that a run has read or written, by real path. */
export type SeenFiles = Map<string, SeenFile>;

/** Whether a file is another than it was. The content decides; only where it is not known do time and size. */
export function hasChanged(seen: SeenFile, now: SeenFile): boolean {
  if (seen.hash !== null && now.hash !== null) return seen.hash !== now.hash;
  return seen.mtimeNs !== now.mtimeNs || seen.size !== now.size;
}
