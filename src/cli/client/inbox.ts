import { randomUUID } from "node:crypto";
import type { AgentError } from "../../protocol/errors.ts";
import type { NextPrompt, PromptStream } from "../../run/prompts.ts";
import { lineOf, LONGEST_LINE, type Client } from "./client.ts";

/** So much may wait to be answered, in UTF-16 code units as they stood on stdin; then stdin is read on only for answers. */
const QUEUED_UNITS = 64 * 1024 * 1024;

/** A prompt that has come. */
export interface Message {
  prompt: NextPrompt;
  /** Its size on stdin, in UTF-16 code units. */
  units: number;
  /** Given back when its turn begins, if the client wants that; undefined where it was no message of the client's. */
  echo: { message: unknown; uuid: string | undefined } | undefined;
}

interface Queued extends Message {
  /** Whether the turn is to end as soon as it begins. */
  interrupted: boolean;
  begun: boolean;
}

/** The client's prompts: they come at any time, and are answered one after the other. */
export class Inbox implements PromptStream {
  readonly #queue: Queued[] = [];
  #units = 0;
  /** The prompt whose turn it is, from when it is handed over. */
  #current: Queued | undefined;
  #hasAnswered = false;
  #ended = false;
  #failure: AgentError | undefined;
  #refusal: AgentError | undefined;
  #client: Client | undefined;
  #wake: () => void = () => {};
  #onRoom: () => void = () => {};
  readonly #onClose: () => void;

  /** @param onClose called when nothing more will be asked for. */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  /** From here on there is somebody to tell. */
  serve(client: Client): void {
    this.#client = client;
  }

  add(message: Message): void {
    this.#queue.push({ ...message, interrupted: false, begun: false });
    this.#units += message.units;
    this.#wake();
  }

  /** No more prompts will come. */
  end(failure?: AgentError): void {
    this.#ended = true;
    this.#failure = failure;
    this.#wake();
  }

  /** Nothing is answered from here on: what the client relies on is not there. */
  refuse(reason: AgentError): void {
    this.#refusal = reason;
  }

  get hasRoom(): boolean {
    return this.#units < QUEUED_UNITS;
  }

  /** Called whenever there is room again. */
  onRoom(callback: () => void): void {
    this.#onRoom = callback;
  }

  /**
   * Ends the turn that is under way; a prompt that came before and has not begun by now is one too, when there is no other.
   * Returns which messages still wait, of those that can be named.
   */
  interrupt(): string[] {
    const waiting = this.#queue.flatMap(({ echo }) => echo?.uuid ?? []);
    if (this.#current?.begun) {
      this.#client?.control.interrupt.interrupt("the client");
    } else {
      const doomed = this.#current ?? this.#queue[0];
      if (doomed) doomed.interrupted = true;
    }
    return waiting;
  }

  /** Drops all prompts that wait; returns those that can be named. */
  clear(): string[] {
    const dropped = this.#queue.splice(0).flatMap(({ echo }) => echo?.uuid ?? []);
    this.#units = 0;
    this.#onRoom();
    return dropped;
  }

  async next(signal: AbortSignal): Promise<NextPrompt | undefined> {
    this.#current = undefined;
    if (this.#queue.length === 0 && this.#hasAnswered) this.#client?.tellState("idle");
    while (this.#queue.length === 0 && !this.#ended && !signal.aborted) await this.#untilWoken(signal);
    if (signal.aborted) throw signal.reason;
    const queued = this.#queue.shift();
    if (queued) return this.#handOver(queued);
    if (this.#failure) throw this.#failure;
    return undefined;
  }

  close(): void {
    this.#onClose();
  }

  #handOver(queued: Queued): NextPrompt {
    this.#current = queued;
    this.#hasAnswered = true;
    this.#units -= queued.units;
    this.#onRoom();
    this.#client?.tellState("running");
    const { notices } = queued.prompt;
    const onBegun = () => this.#begin(queued);
    return this.#refusal
      ? { kind: "unreadable", error: this.#refusal, notices, onBegun }
      : { ...queued.prompt, onBegun };
  }

  #begin(queued: Queued): void {
    queued.begun = true;
    if (queued.echo) this.#replay(queued.echo);
    if (queued.interrupted) this.#client?.control.interrupt.interrupt("the client");
  }

  #replay({ message, uuid = randomUUID() }: NonNullable<Message["echo"]>): void {
    const client = this.#client;
    if (!client?.options.replays) return;
    const { sessionId: session_id } = client.control;
    const whole = { type: "user", message, parent_tool_use_id: null, session_id, uuid, isReplay: true };
    // Whoever sent it knows what it said; what counts is which it was.
    const isShort = Buffer.byteLength(lineOf(whole)) <= LONGEST_LINE;
    client.write(isShort ? whole : { ...whole, message: { role: "user", content: [] } });
  }

  async #untilWoken(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    signal.removeEventListener("abort", wake);
  }
}
