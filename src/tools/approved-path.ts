import { resolve } from "node:path";
import { resolveExisting } from "./workspace.ts";

/**
 * What a call on the file `requested` wants: the path that it leads to now, with links resolved.
 *
 * @param requested as the model wrote it; relative to `cwd`, or absolute.
 * @throws an error if links lead in a circle.
 */
export async function fileAccess<Kind extends "read" | "write">(
  kind: Kind,
  requested: string,
  cwd: string,
): Promise<{ kind: Kind; path: string; requested: string }> {
  return { kind, path: await resolveExisting(requested, cwd), requested: resolve(cwd, requested) };
}

/** Remembers which real path was approved for which call; a call is known by its input object. */
export class ApprovedPaths<Input extends object> {
  readonly #paths = new WeakMap<Input, string>();

  /**
   * What a call on `requested` wants; remembers the path that it leads to now.
   *
   * @throws an error if links lead in a circle.
   */
  async access<Kind extends "read" | "write">(
    input: Input,
    kind: Kind,
    requested: string,
    cwd: string,
  ): Promise<{ kind: Kind; path: string; requested: string }> {
    const access = await fileAccess(kind, requested, cwd);
    this.#paths.set(input, access.path);
    return access;
  }

  /** The approved path; nothing else may be opened for this call. */
  of(input: Input): string {
    const path = this.#paths.get(input);
    if (path === undefined) throw new Error("a call whose access nobody has asked for");
    return path;
  }
}
