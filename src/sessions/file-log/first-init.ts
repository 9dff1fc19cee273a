import { closeSync, openSync, readSync } from "node:fs";
import { isSessionId } from "../session-id.ts";

/** No `init` line is longer, in bytes. */
const MAX_BYTES = 256 * 1024;

/** What the first line of a log says of its session. */
export interface FirstInit {
  ts: string;
  cwd: string;
  model: string;
  /** The session that this one is a fork of, and the last of its lines that belongs to both. */
  forkedFrom: { session_id: string; seq: number } | undefined;
}

/** Reads the first line of a log; undefined if there is none, or it is no `init`. Never throws. */
export function firstInit(path: string): FirstInit | undefined {
  try {
    const head = readHead(path);
    return initOfLine(head.slice(0, head.indexOf("\n")));
  } catch {
    return undefined;
  }
}

/** The same of a first line that has been read. Never throws. */
export function initOfLine(line: string): FirstInit | undefined {
  try {
    const init: unknown = JSON.parse(line);
    if (!isRecord(init) || init["type"] !== "init") return undefined;
    const { ts, cwd, model, forked_from } = init;
    if (typeof ts !== "string" || typeof cwd !== "string" || typeof model !== "string") return undefined;
    return { ts, cwd, model, forkedFrom: originOf(forked_from) };
  } catch {
    return undefined;
  }
}

function originOf(value: unknown): FirstInit["forkedFrom"] {
  if (!isRecord(value)) return undefined;
  const { session_id, seq } = value;
  const isOne = typeof session_id === "string" && isSessionId(session_id) && typeof seq === "number";
  return isOne ? { session_id, seq } : undefined;
}

function readHead(path: string): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_BYTES);
    let length = 0;
    for (;;) {
      const read = readSync(fd, bytes, length, MAX_BYTES - length, length);
      const isWhole = bytes.subarray(length, length + read).includes("\n");
      length += read;
      if (read === 0 || isWhole || length === MAX_BYTES) return bytes.toString("utf8", 0, length);
    }
  } finally {
    closeSync(fd);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
