import type { EventBodyOf } from "../protocol/event.ts";
import { closeSync, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** The most that is read of one file, in bytes. */
const MAX_BYTES = 64 * 1024;
const NAME = "AGENTS.md";

/** A file of instructions that a repository has for agents (https://agents.md). */
export interface Instructions {
  path: string;
  text: string;
  /** Whether the file is longer than what was read. */
  truncated: boolean;
}

/**
 * The `AGENTS.md` of the working folder and of its parents up to the repository's root, the root's first; outside
 * of a repository only that of the folder itself. A link that leaves the repository is not followed.
 * @param cwd absolute, with links resolved.
 */
export function readInstructions(cwd: string): Instructions[] {
  const folders = foldersUpToRoot(cwd);
  const root = folders.at(-1) ?? cwd;
  return folders.toReversed().flatMap((folder) => readOne(join(folder, NAME), root) ?? []);
}

/** From the folder upwards to the one that holds `.git`. */
function foldersUpToRoot(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

function readOne(path: string, root: string): Instructions | undefined {
  let fd: number | undefined;
  try {
    const real = realpathSync(path);
    if (!real.startsWith(root === "/" ? root : `${root}/`)) return undefined;
    fd = openSync(real, "r");
    if (!fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    const truncated = length > MAX_BYTES;
    // Without a byte order mark, and as a stream without the half of a character that the limit has cut.
    const read = bytes.subarray(0, Math.min(length, MAX_BYTES));
    const text = new TextDecoder().decode(read, { stream: truncated }).trim();
    return text === "" ? undefined : { path, text, truncated };
  } catch {
    // Missing, or not for this user to read: then there are none.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What is said of them, since they steer the model. */
export function instructionsNotice(files: readonly Instructions[]): EventBodyOf<"notice"> {
  const names = files.map(({ path, truncated }) => (truncated ? `${path} (its first 64 KiB)` : path));
  const message = `the model was given ${names.join(", ")}; --bare leaves it out`;
  return { type: "notice", level: "info", code: "instructions_used", message };
}
