import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Longest command line that is shown, in UTF-16 code units. */
const COMMAND_UNITS = 200;

/** A living process as Linux describes it in /proc. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** Ticks since boot; with the pid it names a process for good, since pids are used again. */
  startTime: number;
}

export const hasProcessTable = existsSync("/proc/self/stat");

/** The living processes; those that have exited and only wait to be collected are left out. */
export function livingProcesses(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync("/proc")) {
    const entry = /^\d+$/.test(name) ? readEntry(Number(name)) : undefined;
    if (entry) entries.push(entry);
  }
  return entries;
}

/** When this very process was started, in the same ticks. */
export function ownStartTime(): number {
  return readEntry(process.pid)?.startTime ?? 0;
}

/** The value of a variable in the environment that a process was started with; undefined if it cannot be read. */
export function environmentOf(pid: number, variable: string): string | undefined {
  const text = readProc(pid, "environ");
  if (!text?.includes(variable)) return undefined;
  const entry = text.split("\0").find((candidate) => candidate.startsWith(`${variable}=`));
  return entry?.slice(variable.length + 1);
}

/** The command line of a process, on one line. */
export function commandOf(pid: number): string {
  const text =
    readProc(pid, "cmdline")?.replace(/\0+$/, "").replaceAll("\0", " ") || readProc(pid, "comm")?.trim();
  return (text ?? "")
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, COMMAND_UNITS)
    .toWellFormed();
}

function readEntry(pid: number): ProcessEntry | undefined {
  const text = readProc(pid, "stat");
  // The second field is the program's name in parentheses, and may itself hold parentheses and blanks.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields ?? [];
  if (state === undefined || state === "Z" || state === "X") return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: Number(fields?.[19]),
  };
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It has exited, or belongs to somebody else.
    return undefined;
  }
}
