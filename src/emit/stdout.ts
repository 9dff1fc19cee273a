import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { wholeCharacters } from "./encode.ts";
import { errnoOf, SinkError, type Sink } from "./sink.ts";

/** After this many bytes that the system did not take at once, the reader's progress is looked at. */
const PIECE_BYTES = 4096;
/** So much text is made into bytes at a time, in UTF-16 code units. */
const ENCODE_UNITS = 64 * 1024;
/** How long to wait before trying again where the system cannot say when there is room, in ms. */
const RETRY_MS = 5;

/**
 * The sink for a file descriptor, by what it is: pipes, sockets and terminals are written without blocking,
 * anything else synchronously, which for files keeps the offset that others may share.
 */
export function openSink(fd: number): Sink {
  const stat = fstatSync(fd);
  if (stat.isFIFO()) {
    const own = ownDescription(fd);
    return own === undefined
      ? new StreamSink(fd, { blocking: true, watch: false })
      : new StreamSink(own, OWN_PIPE);
  }
  if (stat.isSocket()) return new StreamSink(fd, { blocking: true, watch: true });
  // A terminal that is stopped (Ctrl-S) must not stop the whole process.
  return new FileSink(stat.isCharacterDevice() ? (ownDescription(fd) ?? fd) : fd);
}

/**
 * Non-blocking mode belongs to the open description, which a neighbour may share (`2>&1`, a shell
 * group). Linux can open the same pipe or terminal again; elsewhere the shared description has to do.
 */
function ownDescription(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}

interface StreamKind {
  /** Whether the descriptor may still block: then it is written only through a socket, which changes that. */
  blocking: boolean;
  /** Whether its other end can be watched. */
  watch: boolean;
}

const OWN_PIPE: StreamKind = { blocking: false, watch: false };

class FileSink implements Sink {
  readonly #fd: number;
  #taken = 0;
  #givenUp = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get taken(): number {
    return this.#taken;
  }

  onReaderClosed(): void {
    // A file has no reader. A terminal that goes away sends SIGHUP.
  }

  giveUp(): void {
    this.#givenUp = true;
  }

  write(text: string | Buffer): Promise<void> | undefined {
    return writePieces(text, (bytes) => {
      const offset = this.#writeNow(bytes, 0);
      return offset < bytes.length ? this.#writeRest(bytes, offset) : undefined;
    });
  }

  async #writeRest(bytes: Buffer, begin: number): Promise<void> {
    for (let offset = begin; offset < bytes.length; offset = this.#writeNow(bytes, offset)) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (this.#givenUp) throw new SinkError("reader_closed", "given up");
    }
  }

  #writeNow(bytes: Buffer, begin: number): number {
    const end = writeWhatGoes(this.#fd, bytes, begin);
    this.#taken += end - begin;
    return end;
  }
}

/**
 * A pipe or a socket. What goes at once is written synchronously, so that a line leaves without
 * waiting for a turn of the event loop; the rest waits for the system to say that there is room.
 */
class StreamSink implements Sink {
  readonly #fd: number;
  readonly #kind: StreamKind;
  /** Made when it is first needed: Node's net module costs 2 ms of every start. */
  #socket: Promise<Socket> | undefined;
  #taken = 0;
  #failure: SinkError | undefined;
  #onReaderClosed: (() => void) | undefined;

  constructor(fd: number, kind: StreamKind) {
    this.#fd = fd;
    this.#kind = kind;
  }

  get taken(): number {
    return this.#taken;
  }

  onReaderClosed(callback: () => void): void {
    this.#onReaderClosed = callback;
  }

  giveUp(): void {
    this.#fail(new SinkError("reader_closed", "given up"));
    // Its failure was reported to whoever waits for a write.
    this.#socket?.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
  }

  write(text: string | Buffer): Promise<void> | undefined {
    return writePieces(text, (bytes) => {
      if (this.#kind.blocking && !this.#socket) return this.#writeRest(bytes, 0);
      const offset = this.#writeNow(bytes, 0);
      return offset < bytes.length ? this.#writeRest(bytes, offset) : undefined;
    });
  }

  async #writeRest(bytes: Buffer, begin: number): Promise<void> {
    const socket = await (this.#socket ??= this.#openSocket());
    for (let offset = begin; offset < bytes.length; offset = this.#writeNow(bytes, offset)) {
      const piece = bytes.subarray(offset, offset + PIECE_BYTES);
      await this.#writeWhenRoom(socket, piece);
      offset += piece.length;
      this.#taken += piece.length;
    }
  }

  #writeWhenRoom(socket: Socket, piece: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      socket.write(piece, (error) => {
        if (error) reject(this.#failure ?? SinkError.from(error));
        else resolve();
      });
    });
  }

  #writeNow(bytes: Buffer, begin: number): number {
    if (this.#failure) throw this.#failure;
    const end = writeWhatGoes(this.#fd, bytes, begin);
    this.#taken += end - begin;
    return end;
  }

  async #openSocket(): Promise<Socket> {
    const { Socket } = await import("node:net");
    const socket = new Socket({
      fd: this.#fd,
      readable: this.#kind.watch,
      writable: true,
      allowHalfOpen: true,
    });
    socket.on("error", (error) => this.#fail(SinkError.from(error)));
    if (this.#kind.watch) this.#watchReader(socket);
    return socket;
  }

  /** On a socket the reader's end shows as end of input; whoever only shut down his sending side still reads. */
  #watchReader(socket: Socket): void {
    socket.on("end", () => {
      try {
        writeSync(this.#fd, Buffer.alloc(0));
      } catch (error) {
        if (errnoOf(error) !== "EAGAIN") this.#fail(SinkError.from(error));
      }
    });
    socket.resume();
    socket.unref();
  }

  #fail(error: SinkError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#onReaderClosed?.();
  }
}

/**
 * Writes a text piece by piece, so that a long line does not exist twice as a whole. Returns undefined if
 * every piece was taken at once.
 */
function writePieces(
  text: string | Buffer,
  write: (bytes: Buffer) => Promise<void> | undefined,
  begin = 0,
): Promise<void> | undefined {
  if (typeof text !== "string") return write(text);
  for (let offset = begin; offset < text.length;) {
    const end = wholeCharacters(text, offset + ENCODE_UNITS);
    const rest = write(Buffer.from(text.slice(offset, end), "utf8"));
    if (rest) return rest.then(() => writePieces(text, write, end));
    offset = end;
  }
  return undefined;
}

/** Writes until the system takes no more; returns how far it got. */
function writeWhatGoes(fd: number, bytes: Buffer, begin: number): number {
  let offset = begin;
  try {
    while (offset < bytes.length) offset += writeSync(fd, bytes, offset);
  } catch (error) {
    if (errnoOf(error) !== "EAGAIN") throw SinkError.from(error);
  }
  return offset;
}

/**
 * From here on stdout belongs to the protocol: whatever a library writes to `process.stdout` (or by
 * `console.log`) comes out on stderr. It also keeps Node from opening a second stream on the descriptor.
 */
export function reserveStdout(): void {
  Object.defineProperty(process, "stdout", {
    configurable: true,
    enumerable: true,
    get: () => process.stderr,
  });
}

/**
 * Writes a line for a person to stderr, best effort: it never blocks and never fails, whoever reads it or
 * does not. Control characters are shown as escapes.
 */
export function writeStderr(line: string): void {
  const text = line.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  try {
    const stat = fstatSync(2);
    const own = stat.isFIFO() ? ownDescription(2) : undefined;
    // Node makes a pipe or socket non-blocking as it opens its own stream on it; a socket cannot be opened again.
    const shared = own === undefined && (stat.isFIFO() || stat.isSocket()) ? process.stderr.fd : 2;
    writeSync(own ?? shared, `${text}\n`);
    if (own !== undefined) closeSync(own);
  } catch {
    // Nobody is left to be told, or has no room for it.
  }
}
