import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SpawnError } from "./errors.ts";

/** Where the command is, seen from here: in the package, and in the repository after a build. */
const PLACES = ["../../bin/linefeed.js", "../../../dist/bin/linefeed.js"];

/**
 * The path of this package's own command.
 * @throws SpawnError if it is not there: this module was bundled into a program, or nothing was built yet.
 */
export function builtCommand(): string {
  for (const place of PLACES) {
    // A bundler may have taken the address away.
    if (!URL.canParse(place, import.meta.url)) continue;
    const path = fileURLToPath(new URL(place, import.meta.url));
    if (existsSync(path)) return path;
  }
  throw new SpawnError("linefeed", {
    code: "config",
    text: "its command is not beside this module, which may have been bundled without it; say with `executable` where it is",
  });
}
