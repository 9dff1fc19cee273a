import { copyFileSync, existsSync, linkSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../../protocol/errors.ts";
import type { ControlRequest, RequestOptions } from "../control.ts";
import type {
  EventLog,
  FollowOptions,
  ListOptions,
  LogFollowing,
  LogReading,
  LogWriter,
  OpenOptions,
  ReadOptions,
  RemoveOptions,
  RunProcess,
  WhichSession,
} from "../event-log.ts";
import { codeOf, makePrivateFolder } from "../private-folder.ts";
import { takenId, type Findable } from "../find.ts";
import type { WriterPresence } from "../state.ts";
import type { SessionStatus } from "../status.ts";
import { ancestorLog, sessionPaths, type SessionPaths } from "./paths.ts";
import { markWriter } from "./meta-file.ts";
import { FileLogWriter, logError } from "./writer.ts";

/** Sessions as folders of files. What each method needs is loaded when it is called: a new session starts without it. */
export class FileLog implements EventLog {
  readonly #sessions: string;

  /** @param sessions the folder of all sessions, absolute; it need not exist. */
  constructor(sessions: string) {
    this.#sessions = sessions;
  }

  async create(id: string, parent?: string): Promise<LogWriter> {
    const paths = sessionPaths(this.#sessions, id);
    let writer: FileLogWriter | undefined;
    try {
      makePrivateFolder(paths.folder);
      writer = new FileLogWriter(paths, id, "ax");
      markWriter(paths);
      if (parent !== undefined) keepAncestors(paths, sessionPaths(this.#sessions, parent), parent);
      return writer;
    } catch (error) {
      writer?.close();
      if (codeOf(error) !== "EEXIST" && codeOf(causeOf(error)) !== "EEXIST") throw logError(error);
      throw takenId(id);
    }
  }

  async open(
    id: string,
    { force, ...options }: OpenOptions,
  ): Promise<{ writer: LogWriter; reading: LogReading }> {
    const paths = this.#existing(id);
    await checkHost(paths, id, force);
    const { claimIfPossible } = await import("./claim.ts");
    const claim = await claimIfPossible(paths, id);
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

  async follow(id: string, options: FollowOptions): Promise<LogFollowing> {
    const paths = this.#existing(id);
    const { FileFollowing } = await import("./following.ts");
    return new FileFollowing(paths, options);
  }

  async presence(id: string): Promise<WriterPresence> {
    const paths = sessionPaths(this.#sessions, id);
    const { presenceOf } = await import("./presence.ts");
    return presenceOf(paths);
  }

  async state(id: string, signal: AbortSignal): Promise<SessionStatus> {
    const paths = sessionPaths(this.#sessions, id);
    const { sessionStatus } = await import("./state.ts");
    return sessionStatus(paths, id, signal);
  }

  async command(id: string, request: ControlRequest, options: RequestOptions): Promise<void> {
    const paths = sessionPaths(this.#sessions, id);
    const { commandWriter } = await import("./command.ts");
    return commandWriter(paths, id, request, options);
  }

  async runProcess(id: string): Promise<RunProcess | undefined> {
    const paths = sessionPaths(this.#sessions, id);
    const { runProcessOf } = await import("./meta.ts");
    return runProcessOf(paths);
  }

  async list(options: ListOptions): Promise<SessionStatus[]> {
    const { listSessions } = await import("./list.ts");
    return listSessions(this.#sessions, options);
  }

  async ids(): Promise<string[]> {
    const { storedIds } = await import("./stored.ts");
    return storedIds(this.#sessions);
  }

  async find(which: WhichSession): Promise<string> {
    const { findAmong, idGiven, noSession } = await import("../find.ts");
    const id = idGiven(which);
    if (id === undefined) return findAmong(await this.#stored(), which, (one) => this.#isAlive(one));
    const { isStored } = await import("./stored.ts");
    if (isStored(sessionPaths(this.#sessions, id).folder)) return id;
    throw noSession(id);
  }

  async liveNamed(name: string): Promise<string | undefined> {
    const { liveNamedAmong } = await import("../find.ts");
    return liveNamedAmong(await this.#stored(), name, (one) => this.#isAlive(one));
  }

  async remove(id: string, options: RemoveOptions): Promise<SessionStatus> {
    const { removeSession, sweepLeftovers } = await import("./remove.ts");
    const removed = await removeSession(this.#sessions, id, options);
    sweepLeftovers(this.#sessions);
    return removed;
  }

  async #stored(): Promise<readonly Findable[]> {
    const { storedSessions } = await import("./stored.ts");
    return storedSessions(this.#sessions);
  }

  async #isAlive(id: string): Promise<boolean> {
    return (await this.presence(id)) === "alive";
  }

  #existing(id: string): SessionPaths {
    const paths = sessionPaths(this.#sessions, id);
    if (existsSync(paths.events)) return paths;
    throw new AgentError("usage", `there is no session ${id}`);
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
  const { readMeta } = await import("./meta.ts");
  const { isOfAnotherMachine } = await import("../machine.ts");
  const meta = readMeta(paths);
  if (!isOfAnotherMachine(meta)) return;
  throw new AgentError(
    "usage",
    `session ${id} was last written on ${meta.host}, where it may be running still; go on there, ` +
      "take a copy with --fork-session, or, if you know that it has ended, add --force",
  );
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}
