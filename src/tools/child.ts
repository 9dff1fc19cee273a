import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { Drain } from "./drain.ts";
import { makePipes, type Pipe } from "./pipes.ts";
import type { ToolOutput } from "./tool.ts";

/**
 * Buffered output in bytes at which both pipes are paused. Each may still hand over the 64 KiB that it was
 * reading, and the last piece that was let in may have been as long: 256 KiB in all.
 */
const PAUSE_BYTES = 64 * 1024;
/**
 * What a pipe holds at most (Linux: pipe-max-size). Once that much was read after the shell's exit,
 * everything that was printed before it has been read.
 */
const PIPE_CAPACITY = 1024 * 1024;

export interface ChildCommand {
  file: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** One of the two is null. */
export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** What a `Child` needs of a `ChildProcess`. */
interface Started {
  readonly pid?: number | undefined;
  once(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
}

interface Source {
  stream: ToolOutput["stream"];
  readable: Readable;
  decoder: StringDecoder;
  bytesAfterExit: number;
  open: boolean;
}

/**
 * Starts a program in its own session and process group, without a terminal and with /dev/null as stdin.
 *
 * @throws the system's error if it cannot be started (ENOENT also where `cwd` is gone, E2BIG, EAGAIN, …),
 * or a TypeError if the command holds a NUL.
 */
export async function startChild(command: ChildCommand): Promise<Child> {
  const pipes = await makePipes();
  let child: ChildProcess;
  try {
    child = await started(
      command,
      pipes ? ["ignore", pipes.stdout.writeEnd, pipes.stderr.writeEnd] : ["ignore", "pipe", "pipe"],
    );
  } catch (error) {
    if (pipes) for (const pipe of [pipes.stdout, pipes.stderr]) closeSync(pipe.readEnd);
    throw error;
  } finally {
    // Only the child may hold the write ends, or the end of the output would never be seen.
    if (pipes) for (const pipe of [pipes.stdout, pipes.stderr]) closeSync(pipe.writeEnd);
  }
  return new Child(child, readableOf(pipes?.stdout, child.stdout), readableOf(pipes?.stderr, child.stderr));
}

function started(command: ChildCommand, stdio: StdioOptions): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.env,
      stdio,
      detached: true,
    });
    child.once("spawn", () => resolve(child));
    child.once("error", reject);
  });
}

function readableOf(pipe: Pipe | undefined, own: Readable | null): Readable {
  if (pipe) return new Socket({ fd: pipe.readEnd, readable: true, writable: false });
  if (own) return own;
  throw new Error("a child without its pipes");
}

/** A running program and its output. Whoever starts one pulls `output` to its end, or calls `close`. */
export class Child {
  readonly pid: number;
  /** Resolves when the program itself has exited; never rejects. */
  readonly exited: Promise<ChildExit>;
  readonly #sources: readonly Source[];
  readonly #drain = new Drain(() => {
    this.#heldOpen = true;
    this.close();
  });
  #exit: ChildExit | undefined;
  #heldOpen = false;
  #closed = false;
  #queue: (ToolOutput & { bytes: number })[] = [];
  #queuedBytes = 0;
  #paused = false;
  #wake: (() => void) | undefined;

  constructor(child: Started, stdout: Readable, stderr: Readable) {
    if (child.pid === undefined) throw new Error("a child that was not started");
    this.pid = child.pid;
    this.#sources = [this.#listen("stdout", stdout), this.#listen("stderr", stderr)];
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#exit = { code, signal };
        if (!this.#paused) this.#drain.resume();
        this.#settle();
        resolve(this.#exit);
      });
    });
  }

  /** How the program ended; undefined while it runs. */
  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  /** Whether the output ended with the program's exit although another process still held a pipe. */
  get heldOpen(): boolean {
    return this.#heldOpen;
  }

  /**
   * The output as it comes. Ends when the program has exited and all it had printed was taken, even if
   * processes it left behind hold the pipes. For one consumer; leaving early calls `close`.
   */
  async *output(): AsyncGenerator<ToolOutput, void, undefined> {
    try {
      for (;;) {
        const piece = this.#take();
        if (piece) yield { stream: piece.stream, text: piece.text };
        else if (this.#finished()) return;
        else await this.#arrival();
      }
    } finally {
      this.close();
    }
  }

  /** Stops reading; what was read stays available. Ends no process. */
  close(): void {
    this.#closed = true;
    for (const source of this.#sources) this.#end(source);
  }

  #listen(stream: ToolOutput["stream"], readable: Readable): Source {
    const source: Source = {
      stream,
      readable,
      decoder: new StringDecoder("utf8"),
      bytesAfterExit: 0,
      open: true,
    };
    readable.on("data", (bytes: Buffer) => this.#data(source, bytes));
    readable.once("end", () => this.#end(source));
    readable.once("error", () => this.#end(source));
    return source;
  }

  #data(source: Source, bytes: Buffer): void {
    this.#push(source.stream, source.decoder.write(bytes), bytes.length);
    if (!this.#exit) return;
    this.#drain.data();
    source.bytesAfterExit += bytes.length;
    if (source.bytesAfterExit < PIPE_CAPACITY) return;
    this.#heldOpen = true;
    this.#end(source);
  }

  #end(source: Source): void {
    if (!source.open) return;
    source.open = false;
    source.readable.destroy();
    // The start of a character that never came whole.
    this.#push(source.stream, source.decoder.end(), 0);
    this.#settle();
  }

  #push(stream: ToolOutput["stream"], text: string, bytes: number): void {
    const last = this.#queue.at(-1);
    if (last?.stream === stream) {
      last.text += text;
      last.bytes += bytes;
    } else if (text !== "") {
      this.#queue.push({ stream, text, bytes });
    } else {
      return;
    }
    this.#queuedBytes += bytes;
    if (this.#queuedBytes >= PAUSE_BYTES) this.#pause();
    this.#wake?.();
  }

  #take(): ToolOutput | undefined {
    const piece = this.#queue.shift();
    if (piece) this.#queuedBytes -= piece.bytes;
    if (this.#queue.length === 0) this.#resume();
    return piece;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#drain.pause();
    for (const source of this.#sources) if (source.open) source.readable.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const source of this.#sources) if (source.open) source.readable.resume();
    if (this.#exit && !this.#finished()) this.#drain.resume();
  }

  #finished(): boolean {
    return this.#closed || (this.#exit !== undefined && this.#sources.every((source) => !source.open));
  }

  #settle(): void {
    if (!this.#finished()) return;
    this.#drain.stop();
    this.#wake?.();
  }

  async #arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
