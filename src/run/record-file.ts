import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { AgentError } from "../protocol/errors.ts";
import { randomBytes } from "./random.ts";

/** What a model wrote may be private; a file that is there already keeps its mode. */
const NEW_MODE = 0o600;

/**
 * Finds out whether a recording can be put at `path` when the run is over, by making a file beside it and
 * removing it again. Returns the path absolute, with links resolved.
 * @throws AgentError `config`, naming the file and the cure.
 */
export function checkRecordFile(path: string): string {
  try {
    const target = realTarget(path);
    const old = statSync(target, { throwIfNoEntry: false });
    if (old?.isDirectory()) throw new Error("it is a folder; name a file");
    if (old && !old.isFile()) throw new Error("it is no regular file; name one");
    if (old) accessSync(target, constants.W_OK);
    const { fd, temporary } = openBeside(target);
    closeSync(fd);
    rmSync(temporary);
    return target;
  } catch (error) {
    throw new AgentError("config", `--record: ${path} cannot be written: ${messageOf(error)}`);
  }
}

/**
 * Puts a recording in place in one step: whoever reads the file sees the old one or the whole new one, also
 * after a kill or on a full disk.
 * @throws the system's error; then nothing has changed.
 */
export function writeRecordFile(target: string, text: string): void {
  const old = statSync(target, { throwIfNoEntry: false });
  const { fd, temporary } = openBeside(target);
  try {
    try {
      writeFileSync(fd, text);
      if (old) takeOver(fd, old);
      // A disk may tell only now that it is full.
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function realTarget(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    // It is to be made: then its folder must be there.
    return join(realpathSync(dirname(absolute)), basename(absolute));
  }
}

function openBeside(target: string): { fd: number; temporary: string } {
  const temporary = join(dirname(target), `.linefeed-${randomBytes(8).toString("hex")}.tmp`);
  return { fd: openSync(temporary, "wx", NEW_MODE), temporary };
}

/** Owner before mode, since a change of owner takes the set-id bits away. */
function takeOver(fd: number, { uid, gid, mode }: Stats): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // Only root may give files away.
  }
  fchmodSync(fd, mode & 0o777);
}

function messageOf(error: unknown): string {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  if (isMissing) return "its folder is not there; make it first";
  return error instanceof Error ? error.message : String(error);
}
