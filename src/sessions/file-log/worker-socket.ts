import { createServer, type Socket } from "node:net";

/**
 * A socket that a writer listens on. Neither it nor its connections keep the process alive. Connections that come before
 * anybody answers them wait, and go when the other side does.
 */
export class WorkerSocket {
  // Who has said all may still wait for the answer.
  readonly #server = createServer({ allowHalfOpen: true });
  readonly #connections = new Set<Socket>();
  /** Connections that nobody answers yet, each with what ends its waiting. */
  readonly #waiting = new Map<Socket, () => void>();
  #answer: ((socket: Socket) => void) | undefined;

  constructor() {
    this.#server.on("connection", (socket) => this.#onConnection(socket));
  }

  /** Resolves when it listens. @throws the system's error. */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ path }, () => {
        this.#server.off("error", reject);
        // A connection that could not be accepted is the other side's matter.
        this.#server.on("error", () => undefined);
        this.#server.unref();
        resolve();
      });
    });
  }

  /** From now on every connection is handed to `answer`, those that have waited first. */
  serve(answer: (socket: Socket) => void): void {
    this.#answer = answer;
    for (const [socket, stopWaiting] of this.#waiting) {
      this.#waiting.delete(socket);
      stopWaiting();
      answer(socket);
    }
  }

  /** Listens no more; connections end when what was written to them is out. Idempotent. */
  close(): void {
    this.#server.close();
    this.#waiting.clear();
    for (const socket of this.#connections) socket.destroySoon();
  }

  #onConnection(socket: Socket): void {
    this.#connections.add(socket);
    socket.unref();
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#connections.delete(socket);
      this.#waiting.delete(socket);
    });
    if (this.#answer) this.#answer(socket);
    else this.#wait(socket);
  }

  /** Most only look whether anybody listens: the end of a connection without a word is seen by reading nothing. */
  #wait(socket: Socket): void {
    const onReadable = () => {
      if (socket.readableLength === 0) socket.read();
    };
    const onEnd = () => socket.destroy();
    socket.on("readable", onReadable).on("end", onEnd);
    this.#waiting.set(socket, () => socket.off("readable", onReadable).off("end", onEnd));
  }
}
