import { constants, type BigIntStats } from "node:fs";
import { open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { hasProcessTable } from "./process-table.ts";

/** Why a path was not opened, as one word. */
export type OpenProblem = "directory" | "not_a_file" | "moved";

export type Opened = { kind: "file"; handle: FileHandle } | { kind: OpenProblem };

/**
 * Opens a regular file to read, and only the one that was approved: `path` has its links resolved, and
 * what is open in the end must lie there, whoever swaps a folder for a link in the meantime. Devices and
 * named pipes are refused without waiting for them. The caller closes the handle.
 *
 * @throws the system's error if it cannot be opened.
 */
export async function openApproved(path: string): Promise<Opened> {
  const handle = await open(
    path,
    constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY,
  );
  let opened: Opened | undefined;
  try {
    opened = await inspect(handle, path);
    return opened;
  } finally {
    if (opened?.kind !== "file") await handle.close();
  }
}

async function inspect(handle: FileHandle, path: string): Promise<Opened> {
  const facts = await handle.stat();
  if (facts.isDirectory()) return { kind: "directory" };
  if (!facts.isFile()) return { kind: "not_a_file" };
  if (!(await liesAt(handle, path))) return { kind: "moved" };
  return { kind: "file", handle };
}

async function liesAt(handle: FileHandle, path: string): Promise<boolean> {
  if (hasProcessTable) return (await readlink(`/proc/self/fd/${handle.fd}`)) === path;
  const [opened, there, real] = await Promise.all([handle.stat(), stat(path), realpath(path)]);
  return real === path && opened.dev === there.dev && opened.ino === there.ino;
}

export type Whole =
  | { kind: "file"; content: Buffer; facts: BigIntStats }
  | { kind: OpenProblem }
  | { kind: "too_large" };

/**
 * Reads the approved file whole, if it is no longer than `limit` bytes.
 *
 * @throws the system's error if it cannot be opened or read.
 */
export async function readWhole(path: string, limit: number): Promise<Whole> {
  const opened = await openApproved(path);
  if (opened.kind !== "file") return opened;
  const { handle } = opened;
  try {
    const facts = await handle.stat({ bigint: true });
    if (facts.size > BigInt(limit)) return { kind: "too_large" };
    const content = await readBytes(handle, Number(facts.size) + 1);
    return content.length > limit ? { kind: "too_large" } : { kind: "file", content, facts };
  } finally {
    await handle.close();
  }
}

/** The first bytes of a file, at most `limit`. */
export async function readBytes(handle: FileHandle, limit: number): Promise<Buffer> {
  const bytes = Buffer.alloc(limit);
  let length = 0;
  for (let count = 1; count > 0 && length < limit; length += count) {
    count = (await handle.read(bytes, length, limit - length, length)).bytesRead;
  }
  return bytes.subarray(0, length);
}
