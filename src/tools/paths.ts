// What a path says by itself: no file system here, so the start-up path may load it.
import { sep } from "node:path";

const SECRET_NAMES = [/^\.env/, /\.pem$/, /^id_/, /^\.netrc$/, /^\.npmrc$/];
const SECRET_FOLDERS = new Set([".aws", ".ssh"]);

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
