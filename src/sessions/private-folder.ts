import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

const OWNER_ONLY = 0o700;

/**
 * Makes a folder that only its owner may enter, whatever the umask, and the folders above it that are missing. One that is
 * there already stays as it is. @throws the system's error.
 */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: OWNER_ONLY });
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    makePrivateFolder(dirname(path));
    return makePrivateFolder(path);
  }
  // Whatever the umask took away.
  chmodSync(path, OWNER_ONLY);
}

/** The system's word for an error: `ENOENT`, `ENOSPC`, … */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown error";
}
