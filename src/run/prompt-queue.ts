import { AgentError } from "../protocol/errors.ts";
import type { PromptContent } from "../protocol/content.ts";
import type { NextPrompt, PromptStream } from "./prompts.ts";

/**
 * Prompts from their source, and those that others send while the run lives, in the order of their coming; the
 * source's first of all.
 */
export class PromptQueue implements PromptStream {
  readonly #source: PromptStream;
  readonly #keepOpen: boolean;
  readonly #sent: PromptContent[] = [];
  #sourceEnded = false;
  #closed = false;
  #wake: () => void = () => {};

  /** @param keepOpen whether to wait for further prompts when the source has ended. */
  constructor(source: PromptStream, keepOpen: boolean) {
    this.#source = source;
    this.#keepOpen = keepOpen;
  }

  /** Queues a prompt. @throws AgentError `usage` if the run takes no more. */
  send(prompt: PromptContent): void {
    if (this.#closed) throw new AgentError("usage", "the run is ending and takes no more prompts");
    this.#sent.push(prompt);
    this.#wake();
  }

  async next(signal: AbortSignal): Promise<NextPrompt | undefined> {
    for (;;) {
      const prompt = this.#sent.shift();
      if (prompt !== undefined) return { kind: "prompt", prompt, notices: [] };
      if (!this.#sourceEnded) {
        const next = await this.#nextOfSource(signal);
        if (next) return next;
      } else if (!this.#keepOpen || signal.aborted) {
        // From here on nobody is told that a prompt was queued which nobody answers.
        this.#closed = true;
        return undefined;
      } else {
        await this.#untilSent(signal);
      }
    }
  }

  close(): void {
    this.#closed = true;
    this.#source.close();
  }

  async #nextOfSource(signal: AbortSignal): Promise<NextPrompt | undefined> {
    const next = await this.#source.next(signal);
    this.#sourceEnded = next === undefined;
    return next;
  }

  async #untilSent(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (signal.aborted || this.#sent.length > 0) resolve();
    });
    signal.removeEventListener("abort", wake);
  }
}
