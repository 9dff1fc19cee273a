import { existsSync } from "node:fs";
import { LogError, type ReadOptions } from "../event-log.ts";
import { ancestorLog, type SessionPaths } from "./paths.ts";
import { firstInit, type FirstInit } from "./first-init.ts";
import { readLog, type FileReading } from "./reading.ts";

/** A log that a session begins with, up to one of its lines. */
interface Ancestor {
  path: string;
  upTo: number;
}

/** Reads a session from its very beginning, be that in the logs of others. @throws as `readLog`. */
export async function readSession(
  paths: SessionPaths,
  { signal, onEvent }: ReadOptions,
): Promise<FileReading> {
  for (const { path, upTo } of ancestorsOf(paths)) {
    await readLog(path, { signal, onEvent: (event) => onEvent(event, true) }, upTo);
  }
  return readLog(paths.events, { signal, onEvent: (event) => onEvent(event, false) });
}

/** Oldest first. */
function ancestorsOf(paths: SessionPaths): Ancestor[] {
  const ancestors: Ancestor[] = [];
  const seen = new Set<string>();
  let origin = originOf(paths.events);
  while (origin && !seen.has(origin.session_id)) {
    seen.add(origin.session_id);
    const path = ancestorLog(paths, origin.session_id);
    if (!existsSync(path))
      throw new LogError(
        `the session is a fork of ${origin.session_id}, whose lines before the fork are gone (${path})`,
      );
    ancestors.unshift({ path, upTo: origin.seq });
    origin = originOf(path);
  }
  return ancestors;
}

function originOf(log: string): FirstInit["forkedFrom"] {
  return firstInit(log)?.forkedFrom;
}
