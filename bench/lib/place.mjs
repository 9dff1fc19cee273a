import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILT = fileURLToPath(new URL("../../dist/bin", import.meta.url));

/** A folder for one benchmark: an empty home, an empty working folder, and the command. */
export function createPlace() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "linefeed-bench-")));
  const place = { folder, home: join(folder, "home"), work: join(folder, "work"), tmp: join(folder, "tmp") };
  for (const path of [place.home, place.work, place.tmp]) mkdirSync(path);
  // A copy, so that a build in the middle does not change what is measured.
  const command = join(folder, "bin");
  cpSync(BUILT, command, { recursive: true });
  return {
    ...place,
    command: join(command, "linefeed.js"),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
