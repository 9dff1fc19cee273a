import type { Readable } from "node:stream";
import { readLines, type Line } from "../consume/lines.ts";
import { AgentError } from "../protocol/errors.ts";
import type { NextPrompt, PromptStream } from "../run/prompts.ts";
import { stdinNotUtf8 } from "./prompt.ts";
import type { LineRead } from "./user-message.ts";

/** The longest line that is read as a prompt, in bytes without its LF. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;

export interface PromptLinesOptions {
  /** The prompt that stood on the command line. */
  first: string | undefined;
  /** Opens what the lines are read from, when they are first needed. */
  open: () => Promise<Readable>;
}

/**
 * Prompts from the lines of stdin, one JSON object each. A line is read when it is asked for and not before, so
 * whoever writes faster than the model answers is held back by the pipe.
 */
export class PromptLines implements PromptStream {
  readonly #open: () => Promise<Readable>;
  #first: string | undefined;
  #given = false;
  #stream: Readable | undefined;
  #lines: AsyncGenerator<Line, void, undefined> | undefined;
  #closed = false;

  constructor({ first, open }: PromptLinesOptions) {
    this.#first = first;
    this.#open = open;
  }

  async next(signal: AbortSignal): Promise<NextPrompt | undefined> {
    const first = this.#first;
    this.#first = undefined;
    const next: NextPrompt | undefined =
      first === undefined ? await this.#nextLine(signal) : { kind: "prompt", prompt: first, notices: [] };
    if (!next && !this.#given) throw noPrompt();
    this.#given = true;
    return next;
  }

  close(): void {
    this.#closed = true;
    this.#stream?.destroy();
  }

  async #nextLine(signal: AbortSignal): Promise<NextPrompt | undefined> {
    const onAbort = () => this.close();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      // The parser brings zod along, which is loaded while the first line is still being waited for.
      const [{ readMessageLine }, lines] = await Promise.all([
        import("./user-message.ts"),
        this.#openLines(),
      ]);
      for (let line = await lines.next(); !line.done; line = await lines.next()) {
        const next = promptOf(line.value, readMessageLine);
        if (next) return next;
      }
      return undefined;
    } catch (error) {
      throw isSystemError(error) ? new AgentError("io", `stdin cannot be read: ${error.message}`) : error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #openLines(): Promise<AsyncGenerator<Line, void, undefined>> {
    return (this.#lines ??= readLines(await this.#openStream(), { maxLineBytes: MAX_LINE_BYTES }));
  }

  async #openStream(): Promise<Readable> {
    const stream = await this.#open();
    // Whoever waits for the next line is told; between lines nobody has to be.
    stream.on("error", () => undefined);
    this.#stream = stream;
    if (this.#closed) stream.destroy();
    return stream;
  }
}

/** Undefined: the line is blank. */
function promptOf(line: Line, read: (text: string) => LineRead): NextPrompt | undefined {
  const where = `stdin:${line.number}`;
  if (line.kind === "too_long") {
    return unreadable(
      `${where}: it is ${line.bytes} bytes long; a line has at most ${MAX_LINE_BYTES} (10 MiB)`,
    );
  }
  if (line.text.trim() === "") return undefined;
  const said = read(line.text);
  if ("fault" in said) {
    return unreadable(`${where}: ${said.fault}${line.ended ? "" : " (stdin ended inside this line)"}`);
  }
  return { kind: "prompt", ...said, notices: line.wellFormed ? [] : [stdinNotUtf8(where)] };
}

function unreadable(message: string): NextPrompt {
  return { kind: "unreadable", error: new AgentError("invalid_request", message), notices: [] };
}

function noPrompt(): AgentError {
  return new AgentError(
    "usage",
    'stdin ended without a prompt; write a line like {"type":"user","text":"what to do"} to it',
  );
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error;
}
