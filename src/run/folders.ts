import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { AgentError } from "../protocol/errors.ts";

// Synchronous, as everything before the first line: fs/promises costs 2 ms of every start.
/**
 * A folder that a run is to work in: absolute, with links resolved.
 *
 * @param named the flag or option that names it, for the error.
 * @throws AgentError `usage` if there is no such folder, `config` if it is named from a working folder that is gone.
 */
export function realFolder(path: string, named: string, base?: string): string {
  const absolute = isAbsolute(path) ? path : resolve(base ?? workingFolder(), path);
  try {
    const real = realpathSync(absolute);
    if (statSync(real).isDirectory()) return real;
  } catch {
    throw new AgentError("usage", `${named}: there is no folder ${absolute}`);
  }
  throw new AgentError("usage", `${named}: ${absolute} is no folder`);
}

/**
 * The folder that the process was started in, with links resolved.
 * @throws AgentError `config` if it was removed since.
 */
export function workingFolder(): string {
  try {
    return realpathSync(process.cwd());
  } catch {
    throw new AgentError("config", "the working folder is gone or closed to this user; go to another one");
  }
}

/** A path with its links resolved, those parts at least that exist. */
export function realAsFarAsItExists(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path
      ? path
      : join(realAsFarAsItExists(parent), path.slice(parent.length).replace(/^\//, ""));
  }
}
