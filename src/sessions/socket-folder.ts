import { closeSync, constants, existsSync, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { AgentError } from "../protocol/errors.ts";

/** Node cuts a longer socket path silently (107 bytes on Linux, 103 elsewhere), and then means another socket. */
const MAX_PATH_BYTES = 100;
/** A process that is stopped has its connections accepted by the kernel; whoever is this slow is taken for alive. */
const CONNECT_MS = 1000;

const hasDescriptorPaths = existsSync("/proc/self/fd");

/** The folder of a session as a place for sockets, whose paths stay short however deep it lies. */
export class SocketFolder {
  readonly #fd: number;
  readonly #folder: string;

  /** @throws the system's error if there is no such folder. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  /** @throws AgentError `config` where no short path leads there. */
  pathOf(name: string): string {
    if (hasDescriptorPaths) return `/proc/self/fd/${this.#fd}/${name}`;
    const path = join(this.#folder, name);
    if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
    throw new AgentError(
      "config",
      `${this.#folder} is too long a path for a socket; set LINEFEED_STATE_DIR to a shorter one`,
    );
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** What listens on a socket: a process, nobody any more, or there is no such socket. */
export type Listener = "alive" | "dead" | "none";

/**
 * Connects to a socket. Of a listener that is alive but too busy to take the connection now there is no socket.
 * Never rejects.
 */
export function tryConnect(path: string): Promise<{ listener: Listener; socket?: Socket }> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (listener: Listener) => {
      clearTimeout(timer);
      socket.off("error", onError);
      if (listener === "alive" && !socket.connecting && !socket.destroyed)
        return resolve({ listener, socket });
      // Whatever still becomes of it is nobody's matter.
      socket.on("error", () => undefined);
      socket.destroy();
      resolve({ listener });
    };
    const onError = (error: NodeJS.ErrnoException) => settle(listenerOf(error.code));
    const timer = setTimeout(() => settle("alive"), CONNECT_MS);
    socket.on("error", onError);
    socket.once("connect", () => settle("alive"));
  });
}

function listenerOf(code: string | undefined): Listener {
  switch (code) {
    case "ENOENT":
      return "none";
    case "ECONNREFUSED":
    case "ENOTSOCK":
      return "dead";
    default:
      // EAGAIN: so many wait already that the kernel takes no more. In doubt nothing is taken over.
      return "alive";
  }
}
