import { statSync } from "node:fs";
import type { WriterPresence } from "../state.ts";
import { isOfAnotherMachine } from "../machine.ts";
import { stillRuns } from "../writer-process.ts";
import { lookForWriter } from "./lock.ts";
import { readMeta, type Meta } from "./meta.ts";
import type { SessionPaths } from "./paths.ts";
import { codeOf } from "../private-folder.ts";

/**
 * A log that was written to in this time may be that of a run which has only just begun and is not known by its process, in ms. As
 * long as it may take until a dead writer is told.
 */
const YOUNG_MS = 1500;

/** Whether a session of files has a writer. A process that can be asked is one; else its mark says which process it is. */
export async function presenceOf(paths: SessionPaths): Promise<WriterPresence> {
  const seen = await look(paths);
  if (seen === "alive" || seen === "unknown") return seen;
  const meta = readMeta(paths);
  if (isOfAnotherMachine(meta)) return "unknown";
  if (seen === "none") return "none";
  return presenceUnasked(paths, meta.writer);
}

/**
 * Where no socket was ever made: a run before it serves, or one in a place that takes none. Its process has left its mark before
 * its first line.
 */
function presenceUnasked({ events }: SessionPaths, writer: Meta["writer"]): WriterPresence {
  if (writer === null) return "none";
  const isKnown = writer !== undefined && writer.start_time !== null;
  if (isKnown && stillRuns(writer)) return "alive";
  const log = statSync(events, { throwIfNoEntry: false });
  return log?.isFile() && Date.now() - log.mtimeMs < YOUNG_MS ? "unknown" : "none";
}

async function look({ folder }: SessionPaths): Promise<Awaited<ReturnType<typeof lookForWriter>>> {
  try {
    return await lookForWriter(folder);
  } catch (error) {
    // No folder, or one that may not be entered: then nobody of us writes there. Else (no descriptors left) nobody can tell.
    return ["ENOENT", "ENOTDIR", "EACCES"].includes(codeOf(error)) ? "none" : "unknown";
  }
}
