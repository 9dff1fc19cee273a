import { lstat, readlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { errorCode } from "./text.ts";

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;
const SECRET_NAMES = [/^\.env/, /\.pem$/, /^id_/, /^\.netrc$/, /^\.npmrc$/];
const SECRET_FOLDERS = new Set([".aws", ".ssh"]);

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

/** Whether `path` is `root` or lies under it. Both absolute with links resolved. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/**
 * Whether a file is likely to hold secrets, by its name: `.env*`, `*.pem`, `id_*`, `.netrc`, `.npmrc`, and
 * anything in a folder `.aws` or `.ssh`. Case does not count, since some file systems do not tell it.
 */
export function isSecret(path: string): boolean {
  const parts = path
    .toLowerCase()
    .split(sep)
    .filter((part) => part !== "");
  const name = parts.at(-1) ?? "";
  return SECRET_NAMES.some((pattern) => pattern.test(name)) || parts.some((part) => SECRET_FOLDERS.has(part));
}
