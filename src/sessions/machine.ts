import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** What tells one machine from another. */
export interface Machine {
  /** Its name, which two may have; null if it is not known. */
  host: string | null;
  /** What its system calls it (Linux: /etc/machine-id), hashed, since that is nobody else's business; null where it does not. */
  machine_id: string | null;
  /** Which of its starts; null where the system does not say. */
  boot_id: string | null;
}

/** Read once: it stays what it is as long as a process lives. */
let own: Machine | undefined;

export function thisMachine(): Machine {
  own ??= {
    host: hostname(),
    machine_id: hashed(firstLine("/etc/machine-id")),
    boot_id: firstLine("/proc/sys/kernel/random/boot_id"),
  };
  return own;
}

/**
 * Whether something of one machine is another's than `here`: nothing on this one can tell what still runs there. The same start of a kernel
 * is the same machine whatever it is called (containers have names of their own). A machine that was started anew has its name
 * still, and no other id: the name alone is shared by many (`localhost`), the id alone by the copies of a disk.
 */
export function isOfAnotherMachine(there: Machine, here = thisMachine()): boolean {
  if (there.host === null || (there.boot_id !== null && there.boot_id === here.boot_id)) return false;
  return there.host !== here.host || differ(there.machine_id, here.machine_id);
}

function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

/** As machine-id(5) asks of whoever shows it around. */
function hashed(id: string | null): string | null {
  return id === null ? null : createHmac("sha256", id).update("linefeed").digest("hex").slice(0, 32);
}

/** Null where there is no such file, or nothing in it. */
function firstLine(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim() || null;
  } catch {
    return null;
  }
}
