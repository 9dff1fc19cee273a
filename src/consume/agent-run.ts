import type { PromptContent } from "../protocol/content.ts";
import { AgentError } from "../protocol/errors.ts";
import type { EventOf } from "../protocol/event.ts";
import type { SignalName } from "../protocol/words.ts";
import type { StreamItem } from "./item.ts";
import { EventParser } from "./parser.ts";
import { AgentProcess, type ProcessOptions } from "./process/agent-process.ts";
import { StreamEndedError, type ProcessExit } from "./process/errors.ts";
import { ItemQueue } from "./process/item-queue.ts";
import { onAbort } from "./process/on-abort.ts";
import { readEvents, type ReadOptions } from "./reader.ts";

/**
 * A run of linefeed in a process of its own: events to loop over, once, and a `result` to wait for. Take either or both.
 *
 * **The loop** gets every event, and holds linefeed back while it is busy. After the last event it waits until the process
 * is gone. Leaving it early ends the process and everything that it started, before the loop is left.
 *
 * **`result`** alone, with no loop begun in the same turn of the event loop, reads to the end and keeps no event: a loop
 * that begins later throws. With a loop, nothing is lost, and neither waits for the other: from the moment in which
 * `result` is asked for, what the loop has not taken yet waits in memory instead of in linefeed.
 */
export interface AgentRun<Item extends StreamItem = StreamItem> extends AsyncIterable<Item> {
  /** The process; undefined if it could not be started. It leads a process group of its own. */
  readonly pid: number | undefined;
  /**
   * The last word of the run, whatever its status; resolves when the process has ended. Rejects with what the loop throws.
   * A rejection that nobody waits for does no harm.
   */
  readonly result: Promise<EventOf<"result">>;
  /** How the process ended; null until then. It is as `result.exit_code` says, unless something between had a hand in it. */
  readonly exit: ProcessExit | null;
  /** What the process wrote to stderr so far; the last 16 KiB of it. */
  readonly stderr: string;
  /**
   * Sends a further prompt, to be answered in its turn. Resolves when it is in the pipe, which linefeed reads one prompt
   * at a time. Rejects with an AgentError: `usage` after `end`, or without `keepOpen`; `io` if the process does not read it,
   * or ends before it has.
   */
  send(prompt: PromptContent): Promise<void>;
  /** No prompt comes any more: the run ends when the last one is answered. */
  end(): void;
  /**
   * Cancels the run: the events go on to the `result`, whose status is then `cancelled`. A process that still lives after
   * `killAfterMs` is killed, and the run fails with a {@link StreamEndedError}. Default: SIGTERM.
   */
  cancel(signal?: SignalName): void;
  /** Ends the run as leaving the loop does; resolves when the process is gone. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** An {@link AgentRun} over any process that prints events. */
export class ProcessRun implements AgentRun {
  readonly #child: AgentProcess;
  readonly #readOptions: Omit<ReadOptions, "signal">;
  readonly #signal: AbortSignal | undefined;
  readonly #queue = new ItemQueue<StreamItem>();
  readonly #over: Promise<EventOf<"result">>;
  readonly #ignoreSignal: () => void;
  #reading: "nobody" | "loop" | "result" = "nobody";
  #result: EventOf<"result"> | undefined;
  #lastSeq: number | null = null;
  #notAnEvent: string | null = null;

  /** Throws a TypeError or RangeError for an option of the reader that is none; then nothing is started. */
  constructor(process: ProcessOptions, { signal, ...readOptions }: ReadOptions) {
    // Looks at the options, as the reader will.
    void new EventParser(readOptions);
    this.#readOptions = readOptions;
    this.#signal = signal;
    this.#child = new AgentProcess(process);
    this.#over = this.#live();
    this.#over.catch(() => undefined);
    this.#ignoreSignal = signal ? onAbort(signal, () => this.cancel()) : () => undefined;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get exit(): ProcessExit | null {
    return this.#child.exit ?? null;
  }

  get stderr(): string {
    return this.#child.stderr;
  }

  get result(): Promise<EventOf<"result">> {
    if (this.#reading === "loop") this.#queue.keep();
    // The loop may stand in the next line.
    else setImmediate(() => this.#readForResult());
    return this.#over;
  }

  async send(prompt: PromptContent): Promise<void> {
    if (this.#child.inputEnded) {
      throw new AgentError(
        "usage",
        "no prompt can be sent after `end()`, nor to a run with a `prompt` of its own unless it has `keepOpen: true`",
      );
    }
    const message = typeof prompt === "string" ? { text: prompt } : { content: prompt };
    try {
      await this.#child.write(`${JSON.stringify({ type: "user", ...message })}\n`);
    } catch (error) {
      throw new AgentError("io", "the prompt was not sent: the process has ended, or does not read", {
        cause: error,
      });
    }
  }

  end(): void {
    this.#child.endInput();
  }

  cancel(signal?: SignalName): void {
    // What has said its last word is about to end.
    if (this.#result || this.#child.exit) return;
    this.#queue.keep();
    void this.#child.terminate(signal);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamItem, void, undefined> {
    if (this.#reading === "loop")
      throw new AgentError("usage", "the events of a run can be looped over once");
    if (this.#reading === "result") {
      throw new AgentError(
        "usage",
        "the events are gone, since only `result` was asked for: begin the loop first, or right after it",
      );
    }
    this.#reading = "loop";
    let isOver = false;
    return {
      next: async () => {
        const value = isOver ? undefined : await this.#queue.take();
        if (value) return { value, done: false };
        if (!isOver) {
          isOver = true;
          await this.#over;
        }
        return { value: undefined, done: true };
      },
      return: async () => {
        isOver = true;
        await this.#leave();
        return { value: undefined, done: true };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave();
  }

  #readForResult(): void {
    if (this.#reading === "loop") return this.#queue.keep();
    this.#reading = "result";
    this.#queue.drop();
  }

  async #leave(): Promise<void> {
    this.cancel();
    this.#queue.drop();
    await this.#over.catch(() => undefined);
  }

  /** The whole life of the process; when this settles, it is gone. */
  async #live(): Promise<EventOf<"result">> {
    const child = this.#child;
    try {
      await child.started;
      await this.#read();
      await child.finish();
    } catch (error) {
      child.closeOutput();
      await child.terminate();
      throw error;
    } finally {
      if (!this.#result || child.wasEnded) await child.endRest();
      await child.release();
      this.#ignoreSignal();
      this.#queue.end();
    }
    if (this.#result) return this.#result;
    throw this.#streamEnded();
  }

  async #read(): Promise<void> {
    for await (const item of readEvents(this.#child.output, this.#readOptions)) {
      if (item.type === "result") {
        this.#result = item;
        void this.#child.finish();
      }
      if (item.type === "invalid") this.#notAnEvent ??= item.message;
      else if (item.seq > 0) this.#lastSeq = item.seq;
      const room = this.#queue.put(item);
      if (room) await room;
    }
  }

  #streamEnded(): StreamEndedError {
    const { exit, stderr, wasKilled } = this.#child;
    return new StreamEndedError({
      exit: exit ?? { code: null, signal: null },
      stderr,
      lastSeq: this.#lastSeq,
      note: wasKilled ? "it was killed, since it did not end when it was asked to" : this.#notAnEvent,
      cause: this.#signal?.aborted ? this.#signal.reason : undefined,
    });
  }
}
