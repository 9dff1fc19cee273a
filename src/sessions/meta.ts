import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { firstInit } from "./file-log/first-init.ts";
import type { SessionFacts } from "./event-log.ts";
import type { SessionPaths } from "./paths.ts";
import { ownProcess, type WriterProcess } from "./writer-process.ts";

/** The content of `meta.json`. Read leniently: a file that is missing or damaged costs no session. */
export interface Meta extends SessionFacts {
  /** The machine of the latest run. */
  host: string | null;
  /** Which of its starts; null where the system does not say. */
  boot_id: string | null;
  /** When the session began: ISO 8601, UTC. */
  created: string | null;
  /** The process of the latest run; null if it is not known. */
  writer: WriterProcess | null;
}

/** A boot's id, where the kernel has one (Linux). */
export function bootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}

/** What is known of a session: from its meta file, and what that does not say from the first line of its log. */
export function readMeta(paths: SessionPaths): Meta {
  const file = parsedFile(paths.meta);
  const init = "cwd" in file ? undefined : firstInit(paths.events);
  return {
    name: textOf(file["name"]),
    cwd: textOf(file["cwd"]) ?? init?.cwd ?? "",
    model: textOf(file["model"]) ?? init?.model ?? "",
    host: textOf(file["host"]),
    boot_id: textOf(file["boot_id"]),
    created: textOf(file["created"]) ?? init?.ts ?? null,
    process_mark: textOf(file["process_mark"]),
    writer: writerOf(file["writer"]),
  };
}

/**
 * Writes the meta file in one step: a reader sees the old one or the new one. What was known of the beginning stays, and the
 * name unless there is a new one. @throws the system's error.
 */
export function writeMeta(paths: SessionPaths, facts: SessionFacts): void {
  const before = readMeta(paths);
  const meta: Meta = {
    ...facts,
    name: facts.name ?? before.name,
    host: hostname(),
    boot_id: bootId(),
    created: before.created,
    writer: ownProcess(),
  };
  const draft = `${paths.meta}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(meta, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  // Whatever the umask took away.
  chmodSync(draft, 0o600);
  renameSync(draft, paths.meta);
}

/**
 * Whether a session is another machine's, so that nothing here can tell if it is being written to. The same start of a kernel
 * is the same machine whatever it is called (containers have names of their own); a machine that was started anew has its name.
 */
export function isOfAnotherHost({ host, boot_id }: Meta): boolean {
  return host !== null && host !== hostname() && (boot_id === null || boot_id !== bootId());
}

function parsedFile(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Numbers 0 and below would mean groups of processes to `kill`. */
function writerOf(value: unknown): WriterProcess | null {
  if (typeof value !== "object" || value === null) return null;
  const { pid, start_time } = { pid: null, start_time: null, ...value };
  if (!isWhole(pid) || pid < 2 || !(start_time === null || isWhole(start_time))) return null;
  return { pid, start_time };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
