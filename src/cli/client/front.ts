import type { Readable } from "node:stream";
import { readLines } from "../../consume/lines.ts";
import { AgentError, toErrorInfo } from "../../protocol/errors.ts";
import type { RunControl } from "../../run/settings.ts";
import type { Prompts } from "../prompt.ts";
import { MAX_LINE_BYTES } from "../prompt-lines.ts";
import { Client, type ClientOptions } from "./client.ts";
import { Inbox } from "./inbox.ts";
import { Questions } from "./questions.ts";

export interface FrontOptions extends ClientOptions {
  /** The prompt that stood on the command line. */
  first: string | undefined;
  /** The working folder, absolute with links resolved. */
  cwd: string;
  /** Opens what the client writes to. */
  open: () => Promise<Readable>;
}

/** The side of stream-json that is not output: prompts, requests and answers, read as they come, also during a turn. */
export function openFront(options: FrontOptions): Prompts {
  const reading = new Reading(options);
  return {
    prompts: reading.inbox,
    notices: [],
    ask: options.asks ? reading.questions.ask : undefined,
    onControl: (control) => void reading.begin(control),
  };
}

class Reading {
  readonly inbox: Inbox;
  readonly questions = new Questions();
  readonly #options: FrontOptions;
  #stream: Readable | undefined;
  #closed = false;
  #wake: () => void = () => {};

  constructor(options: FrontOptions) {
    this.#options = options;
    this.inbox = new Inbox(() => this.#close());
    this.inbox.onRoom(() => this.#wake());
    this.questions.onOpen(() => this.#wake());
    const { first } = options;
    if (first !== undefined)
      this.inbox.add({ prompt: { kind: "prompt", prompt: first, notices: [] }, units: 0, echo: undefined });
  }

  /** Reads to the end. Never rejects. */
  async begin(control: RunControl): Promise<void> {
    const client = new Client(this.#options, control);
    this.inbox.serve(client);
    this.questions.serve(client);
    const close = () => this.#close();
    control.signal.addEventListener("abort", close, { once: true });
    let failure: AgentError | undefined;
    try {
      await this.#read(client);
    } catch (error) {
      if (!this.#closed) failure = asAgentError(error);
    }
    control.signal.removeEventListener("abort", close);
    this.questions.close("stdin was closed, so nobody can answer");
    this.inbox.end(failure);
  }

  async #read(client: Client): Promise<void> {
    // zod comes in here, while the agent is being put together.
    const [{ Dispatcher }, stream] = await Promise.all([import("./dispatch.ts"), this.#open()]);
    const { inbox, questions } = this;
    const dispatcher = new Dispatcher({ client, inbox, questions, cwd: this.#options.cwd });
    for await (const line of readLines(stream, { maxLineBytes: MAX_LINE_BYTES })) {
      dispatcher.take(line);
      await client.control.roomForAsides();
      while (!this.#mayReadOn) await this.#untilWoken();
    }
  }

  async #open(): Promise<Readable> {
    const stream = await this.#options.open();
    // Whoever reads it is told.
    stream.on("error", () => undefined);
    this.#stream = stream;
    if (this.#closed) stream.destroy();
    return stream;
  }

  /** Many prompts can wait where they come from, but not with an answer behind them that a call waits for. */
  get #mayReadOn(): boolean {
    return this.inbox.hasRoom || this.questions.areOpen || this.#closed;
  }

  async #untilWoken(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #close(): void {
    this.#closed = true;
    this.#stream?.destroy();
    this.#wake();
  }
}

function asAgentError(error: unknown): AgentError {
  if (error instanceof Error && "errno" in error)
    return new AgentError("io", `stdin cannot be read: ${error.message}`);
  const { code, message } = toErrorInfo(error);
  return new AgentError(code, message, { cause: error });
}
