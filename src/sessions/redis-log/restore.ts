import { existsSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { AgentError } from "../../protocol/errors.ts";
import { claimIfPossible } from "../file-log/claim.ts";
import { replaceMetaFile } from "../file-log/meta-file.ts";
import { ancestorLog, type SessionPaths } from "../file-log/paths.ts";
import { makePrivateFolder } from "../private-folder.ts";
import type { Connection } from "./connection.ts";
import { FileLines } from "./file-lines.ts";
import type { Known } from "./known.ts";
import { bytesAfter, firstEntry, lineAt } from "./pages.ts";

/**
 * Brings the files of a session up to date with the store: it may have been carried on elsewhere, or have been written only there.
 * Nobody else may write to the session meanwhile.
 * @throws AgentError `usage` if a run on this machine writes to it; `io` if the store has too little, or the file has lines that the store never got and
 * the store others in their place; the system's error; the reason of the signal.
 */
export async function restoreFiles(
  connection: Connection,
  known: Known,
  paths: SessionPaths,
  signal: AbortSignal,
): Promise<void> {
  if (!known.hasLog) return;
  makePrivateFolder(paths.folder);
  await restoreAncestors(connection, known, paths, signal);
  const claim = await claimIfPossible(paths, known.id);
  try {
    await restoreLog(connection, known, paths, signal);
  } finally {
    claim?.release();
  }
}

/** The logs of the sessions that this one is a fork of. @throws StoreError; the system's error; the reason of the signal. */
export async function restoreAncestors(
  connection: Connection,
  { keys, ancestors }: Known,
  paths: SessionPaths,
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of ancestors)
    await fetchAncestor(connection, keys.ancestor(id), ancestorLog(paths, id), { paths, signal });
}

/** One of them out of any stream; one that is there already stays. @throws as {@link restoreAncestors}. */
export async function fetchAncestor(
  connection: Connection,
  stream: string,
  path: string,
  { paths, signal }: { paths: SessionPaths; signal: AbortSignal },
): Promise<void> {
  if (existsSync(path)) return;
  makePrivateFolder(paths.ancestors);
  // It is there as a whole or not at all.
  const draft = `${path}.new`;
  await writeFrom(draft, "w", 0, bytesAfter(connection, stream, 0, signal));
  renameSync(draft, path);
}

async function restoreLog(
  connection: Connection,
  known: Known,
  paths: SessionPaths,
  signal: AbortSignal,
): Promise<void> {
  const { id, keys, seq, about } = known;
  const here = await lastLineUpTo(paths.events, seq);
  const there = here.seq > 0 ? await lineAt(connection, keys.log, here.seq) : undefined;
  if (there && !there.equals(here.line)) throw diverged(id, here.seq, paths);
  if (here.seq >= seq) return;
  const first = await firstEntry(connection, keys.log);
  if (!there && first && first.seq > 1) throw tooLittle(id, first.seq);
  await writeFrom(paths.events, "a", here.end, bytesAfter(connection, keys.log, here.seq, signal));
  if (Object.keys(about).length > 0) replaceMetaFile(paths, about);
}

/** Of the lines of a file that also the store may have, the last. */
async function lastLineUpTo(path: string, seq: number): Promise<{ seq: number; line: Buffer; end: number }> {
  let last: { seq: number; line: Buffer; end: number } = { seq: 0, line: Buffer.alloc(0), end: 0 };
  if (!existsSync(path)) return last;
  const lines = new FileLines(path);
  try {
    for (let batch = await lines.next(); batch && last.seq < seq; batch = await lines.next()) {
      let end = batch.end - batch.lines.reduce((sum, { line }) => sum + line.length + 1, 0);
      for (const entry of batch.lines) {
        end += entry.line.length + 1;
        if (entry.seq <= seq) last = { ...entry, end };
      }
    }
    return last;
  } finally {
    await lines.close();
  }
}

/** Puts bytes behind the first `end` of a file, whose others go. */
async function writeFrom(
  path: string,
  flags: "a" | "w",
  end: number,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.truncate(end);
    for await (const chunk of chunks) await file.appendFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

function diverged(id: string, seq: number, { events }: SessionPaths): AgentError {
  return new AgentError(
    "io",
    `session ${id} was carried on elsewhere from the store, while this machine has lines (up to ${seq}) that never got there; ` +
      `to go on with what the store has: mv ${events} ${events}.old`,
  );
}

function tooLittle(id: string, first: number): AgentError {
  return new AgentError(
    "io",
    `the store has the lines of session ${id} only from ${first} on (--retain-lines), and the others are not on this machine; go on where they are`,
  );
}
