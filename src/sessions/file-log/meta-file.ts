import {
  chmodSync,
  closeSync,
  fchmodSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { ownProcess } from "../writer-process.ts";
import type { SessionPaths } from "./paths.ts";

// A start loads this, and so none of what the rest of `meta.json` takes.

/**
 * Leaves word which process begins a session, before its first line is there: until it can be asked, and where nobody ever can, this
 * tells that it lives. It is the beginning of `meta.json`; what else belongs there is written behind the first line. Never throws:
 * where it cannot be written, a run that has just begun is believed to live for a while.
 */
export function markWriter({ meta }: SessionPaths): void {
  try {
    const file = openSync(meta, "w", 0o600);
    try {
      // Whatever the umask took away.
      fchmodSync(file, 0o600);
      writeSync(file, `${JSON.stringify({ writer: ownProcess() })}\n`);
    } finally {
      closeSync(file);
    }
  } catch {
    // The log is what counts; what keeps it from being written is told there.
  }
}

/** Takes the word back, if it is about this process. Never throws. */
export function forgetWriter(paths: SessionPaths): void {
  const content = readMetaFile(paths);
  const { writer } = content;
  const isOurs =
    typeof writer === "object" && writer !== null && "pid" in writer && writer.pid === process.pid;
  if (!isOurs) return;
  try {
    replaceMetaFile(paths, { ...content, writer: null });
  } catch {
    // Then it holds until the process ends.
  }
}

/** What the file says; nothing if it is missing or damaged. */
export function readMetaFile({ meta }: SessionPaths): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(meta, "utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** In one step: a reader sees the old content or the new one. @throws the system's error. */
export function replaceMetaFile({ meta }: SessionPaths, content: object): void {
  const draft = `${meta}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  // Whatever the umask took away.
  chmodSync(draft, 0o600);
  renameSync(draft, meta);
}
