import { chmodSync, existsSync, linkSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { AgentError } from "../protocol/errors.ts";
import { codeOf } from "./private-folder.ts";
import { SocketFolder, tryConnect } from "./socket-folder.ts";

/** The socket of the session's n-th writer. */
const WORKER = /^worker\.(\d+)\.sock$/;
/** The private name under which a starter listens before it is the writer. */
const STARTER = /^starter\.[\w-]+\.sock$/;

/** A session is being written to by another process. */
export class SessionBusyError extends AgentError {
  override readonly name = "SessionBusyError";

  constructor(id: string) {
    super(
      "usage",
      `session ${id} is running; watch it with: linefeed attach ${id}, give it another prompt with: linefeed send ${id} "…", ` +
        "or take a copy with --fork-session",
    );
  }
}

/** Sockets cannot be made here; the message says why. */
export class NoSocketsError extends Error {
  override readonly name = "NoSocketsError";
}

/** The right to write to a session, and the way in to its writer. */
export interface SessionClaim {
  /** Connections to it are the writer's to answer. It does not keep the process alive. */
  readonly server: Server;
  /** Gives the session back. Idempotent; never throws. */
  release(): void;
}

/**
 * Becomes the writer of a session, if it has none that lives. Whoever listens on the socket with the highest number is the
 * writer: a number is taken by linking a socket that already listens, which one process only can do, and a process that
 * ends, however it ends, listens no more. Process numbers, times and files that say who holds what play no part.
 *
 * @param folder the session's folder.
 * @throws SessionBusyError if there is a writer, or another starter was faster; NoSocketsError where sockets cannot be made.
 */
export async function claimSession(folder: string, id: string): Promise<SessionClaim> {
  const sockets = openFolder(folder);
  const name = `starter.${process.pid}-${process.hrtime.bigint().toString(36)}.sock`;
  let server: Server | undefined;
  try {
    await refuseIfAlive(folder, sockets, id);
    server = await listen(sockets.pathOf(name));
    const number = await takeNumber(folder, sockets, name, id);
    tidyUp(folder, sockets, number);
    return claimOf(server, sockets, number);
  } catch (error) {
    server?.close();
    rmSync(sockets.pathOf(name), { force: true });
    sockets.close();
    throw noClaim(error, folder, id);
  }
}

function openFolder(folder: string): SocketFolder {
  try {
    return new SocketFolder(folder);
  } catch (error) {
    throw new NoSocketsError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Whether a session has a writer: one that is stopped or busy too. Never rejects but for a folder that cannot be read. */
export async function isAlive(folder: string): Promise<boolean> {
  const sockets = new SocketFolder(folder);
  try {
    return (await listenerOfHighest(folder, sockets)) === "alive";
  } finally {
    sockets.close();
  }
}

/** The number of the latest writer's socket; 0 if there is none. */
export function highestNumber(folder: string): number {
  const numbers = readdirSync(folder).map((name) => Number(WORKER.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

export function workerSocket(number: number): string {
  return `worker.${number}.sock`;
}

async function listenerOfHighest(folder: string, sockets: SocketFolder): Promise<"alive" | "dead" | "none"> {
  for (;;) {
    const number = highestNumber(folder);
    if (number === 0) return "none";
    const { listener, socket } = await tryConnect(sockets.pathOf(workerSocket(number)));
    socket?.destroy();
    // A writer that has just ended took its socket away; one before it may be left to be asked, or one after it.
    if (listener !== "none" || highestNumber(folder) === number) return listener;
  }
}

async function refuseIfAlive(folder: string, sockets: SocketFolder, id: string): Promise<void> {
  if ((await listenerOfHighest(folder, sockets)) === "alive") throw new SessionBusyError(id);
}

async function takeNumber(folder: string, sockets: SocketFolder, name: string, id: string): Promise<number> {
  const highest = highestNumber(folder);
  // Between the first look and now another may have begun.
  if (highest > 0) await refuseIfAlive(folder, sockets, id);
  const number = highest + 1;
  try {
    linkSync(sockets.pathOf(name), sockets.pathOf(workerSocket(number)));
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? new SessionBusyError(id) : error;
  }
  // Whoever was slow may have taken a number that had already been taken, held and given back.
  if (highestNumber(folder) > number) {
    rmSync(sockets.pathOf(workerSocket(number)), { force: true });
    throw new SessionBusyError(id);
  }
  rmSync(sockets.pathOf(name), { force: true });
  return number;
}

/** What writers and starters that were killed have left behind. A starter that still lives finds that it has lost. */
function tidyUp(folder: string, sockets: SocketFolder, number: number): void {
  for (const name of readdirSync(folder)) {
    const worker = WORKER.exec(name);
    if (worker ? Number(worker[1]) < number : STARTER.test(name))
      rmSync(sockets.pathOf(name), { force: true });
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true });
    server.once("error", (error) => reject(error));
    server.listen({ path }, () => {
      server.removeAllListeners("error");
      // A connection that could not be accepted is the other side's matter.
      server.on("error", () => undefined);
      try {
        // Whatever the umask gave.
        chmodSync(path, 0o600);
        resolve(server.unref());
      } catch (error) {
        server.close();
        reject(error);
      }
    });
  });
}

function claimOf(server: Server, sockets: SocketFolder, number: number): SessionClaim {
  let isHeld = true;
  return {
    server,
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(sockets.pathOf(workerSocket(number)), { force: true });
      server.close();
      sockets.close();
    },
  };
}

function noClaim(error: unknown, folder: string, id: string): Error {
  if (error instanceof AgentError) return error;
  // Whoever has become the writer clears away the names of all other starters.
  if (codeOf(error) === "ENOENT" && existsSync(folder)) return new SessionBusyError(id);
  return new NoSocketsError(error instanceof Error ? error.message : String(error), { cause: error });
}
