import { lstat, readlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { errorCode } from "./text.ts";

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * The path that opening `path` leads to: absolute, every link resolved, also a link whose target does not
 * exist yet. From the first part that does not exist (or may not be looked at) on, the rest is appended.
 * `..` is taken after links are resolved, as the system does.
 *
 * @throws an error if links lead in a circle.
 */
export async function resolveExisting(path: string, cwd: string): Promise<string> {
  const parts = (path.startsWith(sep) ? path : `${cwd}${sep}${path}`).split(sep).toReversed();
  let current: string = sep;
  let links = 0;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, part);
    const target = await linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new Error(`${path} leads through too many links`);
    if (target.startsWith(sep)) current = sep;
    parts.push(...target.split(sep).toReversed());
  }
  return current;
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === "" || code.startsWith("ERR_")) throw error;
    return undefined;
  }
}
