import type { EventBody } from "../protocol/event.ts";
import type { WaitingFor } from "../protocol/words.ts";

export interface HeartbeatOptions {
  /** Silence after which to say that the run is alive, in ms; 0: never. */
  intervalMs: number;
  now: () => number;
  /** When something was last printed. */
  lastPrinted: () => number;
  blocked: () => boolean;
  emit: (body: EventBody) => void;
}

/** Says that the run is alive, and what it waits for, when nothing has been printed for a while. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #turn: number | null = null;
  #step: number | null = null;
  #running = 0;
  #questions = 0;
  #paused = false;
  /** The silence before it was nobody's fault. */
  #resumedAt: number;
  #waitingFor: WaitingFor = "model";
  #since: number;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#since = options.now();
    this.#resumedAt = this.#since;
    if (options.intervalMs > 0) this.#arm(options.intervalMs);
  }

  /** Follows the run, to know what it waits for. */
  apply(body: EventBody): void {
    switch (body.type) {
      case "turn_start":
        this.#turn = body.turn;
        break;
      case "step_start":
        this.#step = body.step;
        this.#waitFor("model");
        break;
      case "retry":
        this.#waitFor("retry");
        break;
      case "tool_start":
        this.#running += 1;
        this.#waitFor("tool");
        break;
      case "tool_end":
        this.#running = Math.max(0, this.#running - 1);
        if (this.#running === 0) this.#waitFor("model");
        break;
      case "turn_end":
        // What nobody has answered by now came to nothing.
        this.#questions = 0;
        break;
      default:
        break;
    }
  }

  /** Waits for somebody who is asked about a call, and takes their time. */
  async whileAsked<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#questions += 1;
    this.#waitFor("permission");
    try {
      return await answer;
    } finally {
      this.#questions = Math.max(0, this.#questions - 1);
      if (this.#questions === 0) this.#waitFor(this.#running > 0 ? "tool" : "model");
    }
  }

  /** Whoever waits for a prompt gives no sign of life: it is the other side that is being waited for. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#resumedAt = this.#options.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Of all that is waited for a person's answer is what most likely takes longest. */
  #waitFor(what: WaitingFor): void {
    const next = this.#questions > 0 ? "permission" : what;
    if (next === "permission" && this.#waitingFor === next) return;
    this.#waitingFor = next;
    this.#since = this.#options.now();
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#onTimer(), ms);
  }

  #onTimer(): void {
    const { now, lastPrinted, intervalMs, blocked, emit } = this.#options;
    const left = Math.max(lastPrinted(), this.#resumedAt) + intervalMs - now();
    if (left > 0.5) return this.#arm(left);
    if (!this.#paused && !blocked()) {
      emit({
        type: "heartbeat",
        turn: this.#turn,
        step: this.#step,
        waiting_for: this.#waitingFor,
        elapsed_ms: Math.round(now() - this.#since),
      });
    }
    this.#arm(intervalMs);
  }
}
