import { copyFileSync, existsSync, linkSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../../protocol/errors.ts";
import type { EventLog, LogReading, LogWriter, OpenOptions, ReadOptions } from "../event-log.ts";
import type { SessionClaim } from "../lock.ts";
import { ancestorLog, sessionPaths, type SessionPaths } from "../paths.ts";
import { codeOf, makePrivateFolder } from "../private-folder.ts";
import { FileLogWriter, logError } from "./writer.ts";

/** Sessions as folders of files. What reads them is loaded only where one is read: a new session starts without it. */
export class FileLog implements EventLog {
  readonly #sessions: string;

  /** @param sessions the folder of all sessions, absolute; it need not exist. */
  constructor(sessions: string) {
    this.#sessions = sessions;
  }

  create(id: string, parent?: string): LogWriter {
    const paths = sessionPaths(this.#sessions, id);
    let writer: FileLogWriter | undefined;
    try {
      makePrivateFolder(paths.folder);
      writer = new FileLogWriter(paths, id, "ax");
      if (parent !== undefined) keepAncestors(paths, sessionPaths(this.#sessions, parent), parent);
      return writer;
    } catch (error) {
      writer?.close();
      if (codeOf(error) !== "EEXIST" && codeOf(causeOf(error)) !== "EEXIST") throw logError(error);
      throw new AgentError(
        "usage",
        `there is a session ${id} already; carry it on with --resume ${id}, or choose another --session-id`,
      );
    }
  }

  async open(
    id: string,
    { force, ...options }: OpenOptions,
  ): Promise<{ writer: LogWriter; reading: LogReading }> {
    const paths = this.#existing(id);
    await checkHost(paths, id, force);
    const claim = await claimIfPossible(paths.folder, id);
    try {
      const { readSession } = await import("./ancestors.ts");
      const reading = await readSession(paths, options);
      const writer = new FileLogWriter(paths, id, "a", claim);
      if (reading.tornBytes > 0) writer.cutTo(reading.wholeBytes);
      if (reading.lacksLineEnd) writer.append("\n", false);
      return { writer, reading };
    } catch (error) {
      claim?.release();
      throw error;
    }
  }

  async read(id: string, options: ReadOptions): Promise<LogReading> {
    const paths = this.#existing(id);
    const { readSession } = await import("./ancestors.ts");
    return readSession(paths, options);
  }

  #existing(id: string): SessionPaths {
    const paths = sessionPaths(this.#sessions, id);
    if (existsSync(paths.events)) return paths;
    throw new AgentError("usage", `there is no session ${id}`);
  }
}

/** Where no sockets can be made, nobody can tell; `serve` says so. */
async function claimIfPossible(folder: string, id: string): Promise<SessionClaim | undefined> {
  const { claimSession, NoSocketsError } = await import("../lock.ts");
  try {
    return await claimSession(folder, id);
  } catch (error) {
    if (error instanceof NoSocketsError) return undefined;
    throw error;
  }
}

/** The lines before the fork: as links, so that they take no room and outlive the other session's removal. */
function keepAncestors(paths: SessionPaths, parent: SessionPaths, id: string): void {
  makePrivateFolder(paths.ancestors);
  linkOrCopy(parent.events, ancestorLog(paths, id));
  if (!existsSync(parent.ancestors)) return;
  for (const name of readdirSync(parent.ancestors))
    linkOrCopy(join(parent.ancestors, name), join(paths.ancestors, name));
}

/** Not every file system has links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

async function checkHost(paths: SessionPaths, id: string, force: boolean): Promise<void> {
  if (force) return;
  const { isOfAnotherHost, readMeta } = await import("../meta.ts");
  const meta = readMeta(paths);
  if (!isOfAnotherHost(meta)) return;
  throw new AgentError(
    "usage",
    `session ${id} was last written on ${meta.host}, where it may be running still; go on there, ` +
      "take a copy with --fork-session, or, if you know that it has ended, add --force",
  );
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}
