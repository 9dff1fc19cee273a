import { AgentError } from "../../protocol/errors.ts";
import { SessionBusyError } from "../busy.ts";
import { codeOf } from "../private-folder.ts";
import { SocketFolder, type Connection } from "./socket-folder.ts";
import {
  highestNumber,
  lookAtHighest,
  starterSocket,
  takeNumber,
  workerSocket,
  type Places,
  type Presence,
} from "./worker-number.ts";
import { WorkerSocket } from "./worker-socket.ts";

/** Sockets cannot be made here; the message says where and why. */
export class NoSocketsError extends Error {
  override readonly name = "NoSocketsError";

  constructor(folder: string, reason: string, cause?: unknown) {
    super(`${folder} takes no sockets: ${reason}`, { cause });
  }
}

/** The right to write to a session, and the way in to its writer. */
export interface SessionClaim {
  /** Hands over every connection to the writer, those that came before this call too. */
  serve: WorkerSocket["serve"];
  /** Gives the session back and ends the connections. Idempotent; never throws. */
  release(): void;
}

/**
 * Becomes the writer of a session, if it has none that lives. Whoever listens on the socket with the highest number is the
 * writer: a number is taken by linking a socket that already listens, which one process only can do, and a process that
 * ends, however it ends, listens no more. Process numbers, times and files that say who holds what play no part. Its
 * number stays taken (docs/decisions/0021-the-last-number-stays.md). The claim does not keep the process alive.
 *
 * @param folder the session's folder.
 * @throws SessionBusyError if there is a writer, or another starter was faster; NoSocketsError where sockets cannot be made, as
 * in a folder that is gone; AgentError `config` if the folder's path is too long for one, `io` if nobody can tell whether there
 * is a writer.
 */
export async function claimSession(folder: string, id: string): Promise<SessionClaim> {
  const sockets = openFolder(folder);
  const starter = starterSocket(crypto.randomUUID().slice(0, 13));
  const socket = new WorkerSocket();
  const listen = async () => {
    await socket.listen(sockets.pathOf(starter));
    sockets.protect(starter);
  };
  try {
    const number = await takeNumber(placesIn(sockets, id), starter, listen);
    if (!sockets.isInPlace()) throw removed(folder);
    if (number === undefined) throw new SessionBusyError(id);
    return claimOf(socket, sockets, number, starter);
  } catch (error) {
    socket.close();
    sockets.remove(starter);
    const reason = claimError(error, folder, id, sockets);
    sockets.close();
    throw reason;
  }
}

/**
 * Looks for a writer: `alive` is one that is stopped or busy too; `unasked` is a session whose writers nobody could ever
 * ask, since none of them has made a socket (yet). Takes about a second at most.
 *
 * @throws the system's error if there is no such folder, or it cannot be read; AgentError `config` as {@link claimSession}.
 */
export async function lookForWriter(folder: string): Promise<"alive" | "none" | "unasked" | "unknown"> {
  const sockets = new SocketFolder(folder);
  try {
    const found = await connectToWriter(sockets);
    if (found.presence === "alive") found.socket?.destroy();
    if (found.presence === "none") return highestNumber(sockets.names()) === 0 ? "unasked" : "none";
    return found.presence === "dead" ? "none" : found.presence;
  } finally {
    sockets.close();
  }
}

/** Connects to whoever writes to the session now. */
export async function connectToWriter(sockets: SocketFolder): Promise<Connection> {
  const { look } = await lookAtHighest(
    () => sockets.names(),
    (name) => sockets.connect(name),
  );
  return look ?? { presence: "none" };
}

/** In doubt nothing is taken over. */
export function cannotTell(id: string, code: string): AgentError {
  return new AgentError(
    "io",
    `the system does not let us ask whether session ${id} is running (${code}); take a copy of it with --fork-session`,
  );
}

function placesIn(sockets: SocketFolder, id: string): Places {
  return {
    names: () => sockets.names(),
    async look(name): Promise<Presence> {
      const found = await sockets.connect(name);
      if (found.presence === "unknown") throw cannotTell(id, found.code);
      if (found.presence === "alive") found.socket?.destroy();
      return found.presence;
    },
    link: (from, to) => sockets.link(from, to),
    remove: (name) => sockets.remove(name),
  };
}

function claimOf(socket: WorkerSocket, sockets: SocketFolder, number: number, starter: string): SessionClaim {
  let isHeld = true;
  return {
    serve: (answer) => socket.serve(answer),
    release() {
      if (!isHeld) return;
      isHeld = false;
      // While it listens nobody takes the next number, so the name is still its own.
      sockets.retire(workerSocket(number), starter);
      socket.close();
      sockets.close();
    },
  };
}

function openFolder(folder: string): SocketFolder {
  try {
    return new SocketFolder(folder);
  } catch (error) {
    throw new NoSocketsError(folder, codeOf(error), error);
  }
}

function claimError(error: unknown, folder: string, id: string, sockets: SocketFolder): Error {
  if (error instanceof AgentError || error instanceof NoSocketsError) return error;
  if (!sockets.isInPlace()) return removed(folder);
  // Whoever has become the writer clears away the names of all other starters.
  if (codeOf(error) === "ENOENT") return new SessionBusyError(id);
  return new NoSocketsError(folder, codeOf(error), error);
}

function removed(folder: string): NoSocketsError {
  return new NoSocketsError(folder, "it has been removed");
}
