import type { ToolContext } from "./tool.ts";

type LimitKind = "timeout" | "cancelled";

/** When a call that runs in this process has to end: at its time, or when it is cancelled. */
export class CallLimit {
  /** Resolves when the call has to end, and says why. Never rejects. */
  readonly reached: Promise<LimitKind>;
  readonly #context: ToolContext;
  readonly #controller = new AbortController();
  readonly #over = new AbortController();
  readonly #cancel = () => this.#end("cancelled", this.#context.signal.reason);
  #resolve: (kind: LimitKind) => void = () => {};

  /** The time, `context.timeoutMs`, is counted by the context's clock from now. */
  constructor(context: ToolContext) {
    this.#context = context;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    void this.#watchTime();
    if (context.signal.aborted) this.#cancel();
    else context.signal.addEventListener("abort", this.#cancel, { once: true });
  }

  /** Aborts when the call has to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The call is over. */
  close(): void {
    this.#over.abort();
    this.#context.signal.removeEventListener("abort", this.#cancel);
  }

  async #watchTime(): Promise<void> {
    const { clock, timeoutMs } = this.#context;
    await clock.sleep(timeoutMs, this.#over.signal);
    if (!this.#over.signal.aborted)
      this.#end("timeout", new Error(`the call took longer than ${timeoutMs} ms`));
  }

  #end(kind: LimitKind, reason: unknown): void {
    this.#resolve(kind);
    this.#controller.abort(reason);
  }
}
