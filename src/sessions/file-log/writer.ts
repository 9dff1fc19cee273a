import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  statSync,
  writeSync,
} from "node:fs";
import { LogError, type LogWriter, type SessionFacts } from "../event-log.ts";
import type { ControlHandler, ControlRequest } from "../control.ts";
import type { SessionClaim } from "./lock.ts";
import { forgetWriter } from "./meta-file.ts";
import type { SessionPaths } from "./paths.ts";
import { codeOf } from "../private-folder.ts";

/** How often it is looked whether the file is still there, in s: a file that was removed takes every line and keeps none. */
const THERE_S = 1;

const encoder = new TextEncoder();
const buffer = new Uint8Array(64 * 1024);

/** Appends to a log file. O_APPEND, so that no line can be written over whatever else happens. */
export class FileLogWriter implements LogWriter {
  readonly #paths: SessionPaths;
  readonly #id: string;
  #claim: SessionClaim | undefined;
  #fd: number | undefined;
  /** How long the file is with all its whole lines, in bytes. */
  #end: number;
  /** In s. */
  #lookedAt: number;

  /** @param claim the right to write to a session that is there already; given back with the file. @throws LogError */
  constructor(paths: SessionPaths, id: string, flags: "ax" | "a", claim?: SessionClaim) {
    this.#paths = paths;
    this.#id = id;
    this.#claim = claim;
    try {
      this.#fd = openSync(paths.events, flags, 0o600);
      // Whatever the umask took away.
      fchmodSync(this.#fd, 0o600);
      this.#end = flags === "ax" ? 0 : fstatSync(this.#fd).size;
    } catch (error) {
      this.close();
      throw logError(error);
    }
    this.#lookedAt = monotonicSeconds();
  }

  get outputFolder(): string {
    return this.#paths.output;
  }

  append(lines: string | Iterable<string>, durable: boolean): void {
    const fd = this.#open();
    let written = 0;
    try {
      for (const text of typeof lines === "string" ? [lines] : lines) written += writeText(fd, text);
      if (durable) fsyncSync(fd);
      this.#checkThere(fd, durable);
    } catch (error) {
      this.#cutBack(fd);
      this.close();
      throw logError(error);
    }
    this.#end += written;
  }

  /** Cuts the file to a length, in bytes; for the piece of a line at its end. @throws LogError */
  cutTo(length: number): void {
    const fd = this.#open();
    try {
      ftruncateSync(fd, length);
    } catch (error) {
      throw logError(error);
    }
    this.#end = length;
  }

  async serve(handle: ControlHandler): Promise<void> {
    // What this loads is loaded behind the first line.
    const { claimSession } = await import("./lock.ts");
    const { serveControl } = await import("./control-socket.ts");
    const claim = this.#claim ?? (await this.#unlessRemoved(claimSession(this.#paths.folder, this.#id)));
    if (!claim) return;
    // The run may be over by now.
    if (this.#fd === undefined) return claim.release();
    this.#claim = claim;
    serveControl(claim, parseRequest, handle);
  }

  /** A session that was removed under its run is told where a line cannot be kept; that nobody finds it either is the same news. */
  async #unlessRemoved(claim: Promise<SessionClaim>): Promise<SessionClaim | undefined> {
    try {
      return await claim;
    } catch (error) {
      if (statSync(this.#paths.events, { throwIfNoEntry: false })) throw error;
      return undefined;
    }
  }

  async describe(facts: SessionFacts): Promise<void> {
    try {
      const { writeMeta } = await import("./meta.ts");
      if (this.#fd !== undefined) writeMeta(this.#paths, facts);
    } catch {
      // The log's first line says it too, but for the name; and where this cannot be written, the log soon cannot either.
    }
  }

  /** Whoever reads the file sees what was appended. */
  onTrouble(): void {}

  async delivered(): Promise<undefined> {
    return undefined;
  }

  close(): void {
    const wasAskable = this.#claim !== undefined;
    this.#claim?.release();
    this.#claim = undefined;
    if (this.#fd === undefined) return;
    if (!wasAskable) forgetWriter(this.#paths);
    const fd = this.#fd;
    this.#fd = undefined;
    try {
      closeSync(fd);
    } catch {
      // What network file systems say only now, a durable append has asked for before.
    }
  }

  #open(): number {
    if (this.#fd === undefined) throw new LogError("the session's log is closed");
    return this.#fd;
  }

  #checkThere(fd: number, now: boolean): void {
    const time = monotonicSeconds();
    if (!now && time - this.#lookedAt < THERE_S) return;
    this.#lookedAt = time;
    const { events } = this.#paths;
    // A fork may still link to the file, so its name is asked for.
    if (statSync(events, { throwIfNoEntry: false })?.ino !== fstatSync(fd).ino)
      throw new LogError(`${events} was removed during the run`);
  }

  #cutBack(fd: number): void {
    try {
      ftruncateSync(fd, this.#end);
    } catch {
      // Then the log ends with a piece of a line; who resumes the session cuts it off.
    }
  }
}

/** In s. (`performance` would load a dozen modules before the first line.) */
function monotonicSeconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds + nanoseconds / 1e9;
}

/** zod is loaded when somebody asks something. */
async function parseRequest(value: unknown): Promise<ControlRequest> {
  const { parseControlRequest } = await import("../control-request.ts");
  return parseControlRequest(value);
}

/** Writes a text piece by piece, so that a long line does not exist twice as a whole; returns its length in bytes. */
function writeText(fd: number, text: string): number {
  let written = 0;
  for (let at = 0; at < text.length;) {
    // Never cuts a character in two.
    const piece = encoder.encodeInto(at === 0 ? text : text.slice(at), buffer);
    at += piece.read;
    for (let from = 0; from < piece.written;) from += writeSync(fd, buffer, from, piece.written - from);
    written += piece.written;
  }
  return written;
}

const CURES: Record<string, string> = {
  ENOSPC: "make room on the disk",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file may not become larger (ulimit -f)",
  EROFS: "point LINEFEED_STATE_DIR to a folder that can be written",
  EACCES: "point LINEFEED_STATE_DIR to a folder that can be written",
  EPERM: "point LINEFEED_STATE_DIR to a folder that can be written",
};

/** What became of lines that were to be kept, with the cure. */
export function logError(error: unknown): LogError {
  if (error instanceof LogError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const cure = CURES[codeOf(error)];
  return new LogError(cure === undefined ? message : `${message}; ${cure}`, { cause: error });
}
