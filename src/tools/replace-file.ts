import { createHash, randomBytes } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import {
  access,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rm,
  type FileHandle,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasProcessTable } from "./process-table.ts";
import type { SeenFile } from "./seen-files.ts";
import { errorCode, systemMessage } from "./text.ts";

export interface Replacement {
  /** Where the file shall be: absolute, every link resolved. */
  path: string;
  content: Buffer;
  /** What must be there until the end: this very file in this state, or nothing. */
  expected: BigIntStats | null;
}

/** A reason not to write that the model can do something about. */
export class NotWritten extends Error {}

/** SHA-256 in hex. */
export function hashOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * What stands at `path` itself, links not followed; null if nothing does.
 *
 * @throws NotWritten if it is no regular file; the system's error if it cannot be looked at.
 */
export async function factsOf(path: string): Promise<BigIntStats | null> {
  let facts: BigIntStats;
  try {
    facts = await lstat(path, { bigint: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  if (facts.isDirectory()) throw new NotWritten("it is a folder");
  if (facts.isSymbolicLink()) throw new NotWritten("it became a link in the meantime");
  if (!facts.isFile()) throw new NotWritten("it is not a regular file (a device, pipe or socket)");
  return facts;
}

/**
 * Puts a file in place in one step: readers see the old content or the new, never a part, and after a
 * failure (a full disk) the old one is still there and nothing beside it. Mode and, where the system lets us,
 * owner stay; missing folders are made. The new file is another inode: further hard links keep the old content.
 *
 * @throws NotWritten if the place is not the approved one any more or something else has come to be there;
 * the system's error if it cannot be written.
 */
export async function replaceFile(replacement: Replacement): Promise<SeenFile> {
  const parent = dirname(replacement.path);
  await mkdir(parent, { recursive: true });
  const folder = await openFolder(parent);
  try {
    return await replaceIn(folder, replacement);
  } finally {
    await folder.handle.close();
  }
}

interface Folder {
  handle: FileHandle;
  /** A path that leads to the open folder, whatever becomes of its name (on Linux). */
  path: string;
}

async function openFolder(path: string): Promise<Folder> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const held = `/proc/self/fd/${handle.fd}`;
  const there = await (hasProcessTable ? readlink(held) : realpath(path)).catch(() => undefined);
  if (there === path) return { handle, path: hasProcessTable ? held : path };
  await handle.close();
  throw new NotWritten("its folder changed its place in the meantime");
}

async function replaceIn(folder: Folder, { path, content, expected }: Replacement): Promise<SeenFile> {
  const target = join(folder.path, basename(path));
  const temporary = join(folder.path, `.linefeed-${randomBytes(8).toString("hex")}.tmp`);
  // Renaming asks the folder only; who may not write a file shall not replace it either.
  if (expected) await access(target, constants.W_OK);
  // What a private file will hold must not be open to others in the meantime either.
  const handle = await open(temporary, "wx", expected ? 0o600 : 0o666);
  try {
    const written = await fill(handle, content, expected);
    await mustStillBe(target, expected);
    await rename(temporary, target);
    return { mtimeNs: written.mtimeNs, size: written.size, hash: hashOf(content) };
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function fill(handle: FileHandle, content: Buffer, expected: BigIntStats | null): Promise<BigIntStats> {
  try {
    await handle.writeFile(content);
    if (expected) await takeOver(handle, expected);
    // A disk may tell only now that it is full.
    await handle.sync();
    return await handle.stat({ bigint: true });
  } finally {
    await handle.close();
  }
}

/** Owner before mode, since a change of owner takes the set-id bits away. */
async function takeOver(handle: FileHandle, old: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  let mode = Number(old.mode & 0o7777n);
  if (own.uid !== old.uid || own.gid !== old.gid) {
    try {
      await handle.chown(Number(old.uid), Number(old.gid));
    } catch {
      // Only root may give files away. Rights that were another's must not become ours.
      mode &= 0o777;
    }
  }
  await handle.chmod(mode);
}

async function mustStillBe(target: string, expected: BigIntStats | null): Promise<void> {
  const now = await factsOf(target);
  if (now === null && expected === null) return;
  if (now === null) throw new NotWritten("it was removed in the meantime");
  if (expected === null) throw new NotWritten("a file came to be there in the meantime");
  const same =
    now.dev === expected.dev &&
    now.ino === expected.ino &&
    now.size === expected.size &&
    now.mtimeNs === expected.mtimeNs;
  if (!same) throw new NotWritten("it was changed in the meantime; read it again");
}

/** Why a file was not written, for the model. */
export function writeProblem(error: unknown): string {
  if (error instanceof NotWritten) return error.message;
  switch (errorCode(error)) {
    case "ENOSPC":
    case "EDQUOT":
      return "there is no room left on the disk; what was there before is unchanged";
    case "EEXIST":
    case "ENOTDIR":
      return "a part of its path is a file, not a folder";
    case "ENAMETOOLONG":
      return "its name is too long";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `it or its folder may not be written to (${errorCode(error)})`;
    default:
      return systemMessage(error);
  }
}
