import { closeSync, existsSync, openSync, readSync } from "node:fs";

/** No stat is longer: 52 numbers and a name of 16 bytes. */
const STAT_BYTES = 2048;

/** A process, named for good: a number alone is used again. */
export interface WriterProcess {
  pid: number;
  /** When it started, in the kernel's ticks since boot (field 22 of /proc/<pid>/stat); null where there is no /proc. */
  start_time: number | null;
}

/** This very process. */
export function ownProcess(): WriterProcess {
  return { pid: process.pid, start_time: startTimeOf(process.pid) };
}

/** Whether the process still runs. Where there is no /proc, it may be another one with the same number. */
export function stillRuns({ pid, start_time }: WriterProcess): boolean {
  if (existsSync("/proc/self/stat")) return start_time !== null && startTimeOf(pid) === start_time;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function startTimeOf(pid: number): number | null {
  try {
    const stat = readStat(pid);
    // The second field is the program's name in parentheses, and may itself hold parentheses and blanks.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // One that has ended and only waits to be collected runs no more.
    return fields[0] === "Z" || fields[0] === "X" ? null : Number(fields[19]);
  } catch {
    return null;
  }
}

/** By the calls that a start has used already: the first use of any other costs more than the file. */
function readStat(pid: number): string {
  const file = openSync(`/proc/${pid}/stat`, "r");
  try {
    const bytes = Buffer.alloc(STAT_BYTES);
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, STAT_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
