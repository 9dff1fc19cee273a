import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { AgentError } from "../../protocol/errors.ts";
import { codeOf } from "../private-folder.ts";

/** Node cuts a longer socket path silently (107 bytes on Linux, 103 elsewhere), and then means another socket. */
const MAX_PATH_BYTES = 100;
/** A process that is stopped has its connections accepted by the kernel; whoever is this slow is taken for alive. */
const CONNECT_MS = 1000;

/** What a connection to a socket found. There is a connection only to a process, and not if it is too busy to take one. */
export type Connection =
  | { presence: "alive"; socket: Socket | undefined }
  | { presence: "dead" | "none" }
  /** The system does not let us ask; the code is its word for why. */
  | { presence: "unknown"; code: string };

/** The folder of a session as a place for sockets, whose paths stay short however deep it lies. */
export class SocketFolder {
  readonly #fd: number;
  readonly #folder: string;
  readonly #hasDescriptorPaths: boolean;

  /** @throws the system's error if there is no such folder. */
  constructor(folder: string, hasDescriptorPaths = existsSync("/proc/self/fd")) {
    this.#folder = folder;
    this.#hasDescriptorPaths = hasDescriptorPaths;
    this.#fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  /** @throws AgentError `config` where no short path leads there. */
  pathOf(name: string): string {
    const path = join(this.#base, name);
    if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
    throw new AgentError(
      "config",
      `${this.#folder} is too long a path for a socket; set LINEFEED_STATE_DIR to a shorter one`,
    );
  }

  names(): string[] {
    return readdirSync(this.#base);
  }

  /** Makes it its owner's alone, whatever the umask was. */
  protect(name: string): void {
    chmodSync(this.pathOf(name), 0o600);
  }

  /** A second name for a socket. @throws the system's error where there are no links. */
  link(from: string, to: string): "linked" | "taken" | "gone" {
    try {
      linkSync(this.pathOf(from), this.pathOf(to));
      return "linked";
    } catch (error) {
      if (codeOf(error) === "EEXIST") return "taken";
      if (codeOf(error) === "ENOENT") return "gone";
      throw error;
    }
  }

  /** Never throws: a name that stays harms nobody. */
  remove(name: string): void {
    try {
      rmSync(this.pathOf(name), { force: true });
    } catch {
      // Somebody put something else there.
    }
  }

  /**
   * Puts an empty file in a socket's place, in one step, so that the name is never free. Nobody listens on a file, and unlike a
   * socket it can be copied. Never throws: where it cannot be done the socket stays.
   *
   * @param unused a name for the file until then.
   */
  retire(name: string, unused: string): void {
    try {
      closeSync(openSync(this.pathOf(unused), "wx", 0o600));
      this.protect(unused);
      renameSync(this.pathOf(unused), this.pathOf(name));
    } catch {
      this.remove(unused);
    }
  }

  /** Whether the folder is still the one that its path leads to. */
  isInPlace(): boolean {
    try {
      const there = statSync(this.#folder, { bigint: true });
      const ours = fstatSync(this.#fd, { bigint: true });
      return there.ino === ours.ino && there.dev === ours.dev;
    } catch {
      return false;
    }
  }

  /** Tries to connect, and takes a second for it at most. Never rejects but with what `pathOf` throws. */
  connect(name: string): Promise<Connection> {
    const path = this.pathOf(name);
    return new Promise((resolve) => {
      const socket = connect({ path });
      // Whatever becomes of it later is its user's matter, or nobody's.
      socket.on("error", () => undefined);
      const settle = (connection: Connection) => {
        clearTimeout(timer);
        socket.off("error", onError).off("connect", onConnect);
        if (connection.presence !== "alive" || !connection.socket) socket.destroy();
        resolve(connection);
      };
      const onConnect = () => settle({ presence: "alive", socket });
      const onError = (error: Error) => settle(failed(codeOf(error)));
      const timer = setTimeout(() => settle({ presence: "alive", socket: undefined }), CONNECT_MS);
      socket.on("error", onError).on("connect", onConnect);
    });
  }

  close(): void {
    closeSync(this.#fd);
  }

  get #base(): string {
    return this.#hasDescriptorPaths ? `/proc/self/fd/${this.#fd}` : this.#folder;
  }
}

function failed(code: string): Connection {
  switch (code) {
    case "ENOENT":
      return { presence: "none" };
    case "ECONNREFUSED":
    case "ENOTSOCK":
      return { presence: "dead" };
    // So many wait already that the kernel takes no more.
    case "EAGAIN":
    case "ETIMEDOUT":
      return { presence: "alive", socket: undefined };
    default:
      return { presence: "unknown", code };
  }
}
