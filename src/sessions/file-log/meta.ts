import { firstInit, type FirstInit } from "./first-init.ts";
import { readMetaFile, replaceMetaFile } from "./meta-file.ts";
import type { RunProcess, SessionFacts } from "../event-log.ts";
import type { SessionPaths } from "./paths.ts";
import { isOfAnotherMachine, thisMachine, type Machine } from "../machine.ts";
import { ownProcess, type WriterProcess } from "../writer-process.ts";

/** The content of `meta.json`. Read leniently: a file that is missing or damaged costs no session. */
export interface Meta extends SessionFacts, Machine {
  /** When the session began: ISO 8601, UTC. */
  created: string | null;
  /** The process of the latest run; null if it gave the session back and nobody could ever ask it, undefined if it is not known. */
  writer: WriterProcess | null | undefined;
}

/** What is known of a session: from its meta file, and what that does not say from the first line of its log. */
export function readMeta(paths: SessionPaths): Meta {
  const file = readMetaFile(paths);
  return metaOf(file, "cwd" in file ? undefined : firstInit(paths.events));
}

/** What the content of a meta file says, and what it does not say from the first line of the log. */
export function metaOf(file: Record<string, unknown>, init: FirstInit | undefined): Meta {
  return {
    name: textOf(file["name"]),
    cwd: textOf(file["cwd"]) ?? init?.cwd ?? "",
    model: textOf(file["model"]) ?? init?.model ?? "",
    host: textOf(file["host"]),
    machine_id: textOf(file["machine_id"]),
    boot_id: textOf(file["boot_id"]),
    created: textOf(file["created"]) ?? init?.ts ?? null,
    process_mark: textOf(file["process_mark"]),
    writer: file["writer"] === null ? null : writerOf(file["writer"]),
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
    ...thisMachine(),
    created: before.created,
    writer: ownProcess(),
  };
  replaceMetaFile(paths, meta);
}

/** The process of a session's latest run. */
export function runProcessOf(paths: SessionPaths): RunProcess | undefined {
  const meta = readMeta(paths);
  const { writer, process_mark } = meta;
  if (!writer || isOfAnotherMachine(meta)) return undefined;
  return { ...writer, process_mark };
}

/** Numbers 0 and below would mean groups of processes to `kill`. */
function writerOf(value: unknown): WriterProcess | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, start_time } = { pid: null, start_time: null, ...value };
  if (!isWhole(pid) || pid < 2 || !(start_time === null || isWhole(start_time))) return undefined;
  return { pid, start_time };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
