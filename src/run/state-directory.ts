import { join, resolve } from "node:path";
import { realAsFarAsItExists } from "./folders.ts";

/**
 * The folder where linefeed keeps what outlives a run, absolute with links resolved: `linefeed` in
 * `LINEFEED_STATE_DIR`, else in `XDG_STATE_HOME`, else in `~/.local/state`. Undefined without a home.
 */
export function stateDirectory(env: NodeJS.ProcessEnv): string | undefined {
  const home = env["HOME"] ? join(env["HOME"], ".local", "state") : undefined;
  // A relative XDG folder is to be ignored, its standard says.
  const xdg = env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : undefined;
  const base = env["LINEFEED_STATE_DIR"] || xdg || home;
  return base === undefined ? undefined : realAsFarAsItExists(resolve(base, "linefeed"));
}
