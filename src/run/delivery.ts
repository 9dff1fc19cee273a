import { AgentError } from "../protocol/errors.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import { LogTakenError, type LogTrouble, type LogWriter } from "../sessions/event-log.ts";
import type { Cancellation } from "./cancellation.ts";

/** How long the end of a run waits until others can see its lines, in ms. docs/distributed.md says so. */
const DELIVERY_MS = 10_000;
/** The same of a run that was ended by a signal: whoever sent it waits for the process. */
const AFTER_SIGNAL_MS = 2000;
/** What the last word gets in any case, in ms. */
const LAST_WORD_MS = 1000;

/** Sees to it that others get to see a run's lines, and says so where they do not. Where there is only a file, they always do. */
export class Delivery {
  readonly #log: LogWriter | undefined;
  readonly #cancellation: Cancellation;
  readonly #emit: (notice: EventBodyOf<"notice">) => void;
  #isTold = false;
  /** On the clock of `performance`. */
  #end: number | undefined;

  constructor(
    log: LogWriter | undefined,
    cancellation: Cancellation,
    emit: (notice: EventBodyOf<"notice">) => void,
  ) {
    this.#log = log;
    this.#cancellation = cancellation;
    this.#emit = emit;
  }

  /** Tells of outages while the run lives. A run whose session another has taken over is ended. */
  watch(): void {
    this.#log?.onTrouble((trouble) => {
      if (trouble.kind === "taken") this.#cancellation.cancel(new AgentError("usage", trouble.message));
      else this.#emit(noticeOf(trouble));
    });
  }

  /** Waits for the lines in front of the last word, and says so if they have not arrived. */
  async beforeLastWord(): Promise<void> {
    const missing = await this.#wait();
    // That is said as soon as the next line cannot be kept.
    this.#isTold = missing !== undefined;
    if (!missing || missing instanceof LogTakenError) return;
    this.#emit({ type: "notice", level: "warning", code: "log_unavailable", message: missing.message });
  }

  /** Waits for the last word itself; nothing more is tried after that. @param tell is told what others do not see then. */
  async afterLastWord(tell: ((message: string) => void) | undefined): Promise<void> {
    this.#log?.close();
    const missing = await this.#wait();
    if (missing && !this.#isTold) tell?.(missing.message);
  }

  async #wait(): ReturnType<LogWriter["delivered"]> {
    if (!this.#log) return undefined;
    const wasSignalled = this.#cancellation.firstSignal !== null;
    const now = performance.now();
    this.#end ??= now + (wasSignalled ? AFTER_SIGNAL_MS : DELIVERY_MS);
    const enough = new AbortController();
    const timer = setTimeout(() => enough.abort(), Math.max(LAST_WORD_MS, this.#end - now));
    // It may never come; then nobody waits for it.
    void this.#cancellation.signals(wasSignalled ? 2 : 1).then(() => {
      this.#end = performance.now();
      enough.abort();
    });
    try {
      return await this.#log.delivered(enough.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

function noticeOf({ kind, message }: LogTrouble): EventBodyOf<"notice"> {
  return kind === "caught_up"
    ? { type: "notice", level: "info", code: "log_caught_up", message }
    : { type: "notice", level: "warning", code: "log_unavailable", message };
}
