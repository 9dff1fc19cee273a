import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/**
 * The first program of this name in the folders of a `PATH`, then in those of `more`; undefined if there is none. Relative
 * folders are passed over: what they mean depends on where one stands.
 */
export function findExecutable(name: string, path: string, more: readonly string[] = []): string | undefined {
  const folders = [...path.split(":").filter((folder) => folder.startsWith("/")), ...more];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
