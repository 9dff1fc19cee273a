import { resolve } from "node:path";
import { resolveExisting } from "./workspace.ts";

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
    const path = await resolveExisting(requested, cwd);
    this.#paths.set(input, path);
    return { kind, path, requested: resolve(cwd, requested) };
  }

  /** The approved path; nothing else may be opened for this call. */
  of(input: Input): string {
    const path = this.#paths.get(input);
    if (path === undefined) throw new Error("a call whose access nobody has asked for");
    return path;
  }
}
