import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { AgentError } from "../protocol/errors.ts";

// Synchronous, as everything before the first line: fs/promises costs 2 ms of every start.
/**
 * A folder that a run is to work in: absolute, with links resolved.
 *
 * @param named the flag or option that names it, for the error.
 * @throws AgentError `usage` if there is no such folder.
 */
export function realFolder(path: string, named: string, base: string): string {
  const absolute = resolve(base, path);
  try {
    const real = realpathSync(absolute);
    if (statSync(real).isDirectory()) return real;
  } catch {
    throw new AgentError("usage", `${named}: there is no folder ${absolute}`);
  }
  throw new AgentError("usage", `${named}: ${absolute} is no folder`);
}
