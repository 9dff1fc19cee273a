import type { EventBody, LinefeedEvent } from "../../protocol/event.ts";
import type { DialectName } from "../../protocol/words.ts";
import type { UnknownEvent } from "../item.ts";

/** Gives converted events what most agents do not say: a number, a time, a session. */
export class Stamp {
  readonly #now: () => Date;
  #seq = 0;
  #hasRun = false;
  #sessionId: string | null = null;
  #time: string | null = null;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Whether a line has been given its number. */
  get isUsed(): boolean {
    return this.#seq > 0;
  }

  /** Whether a run of this session has begun. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The lines of a session begin, and are counted from 1. */
  enter(sessionId: string): void {
    this.#sessionId = sessionId;
    this.#seq = 0;
    this.#hasRun = false;
  }

  /** The time at which the agent wrote what comes next; null: the time of reading. */
  at(time: string | null): void {
    this.#time = time;
  }

  event(body: EventBody): LinefeedEvent {
    if (body.type === "init") this.#hasRun = true;
    const head = { type: body.type, ...this.#envelope() };
    return { ...head, ...body };
  }

  unknown(name: string, raw: Record<string, unknown>, dialect: DialectName): UnknownEvent {
    return { type: "unknown", ...this.#envelope(), name, raw, dialect };
  }

  #envelope(): { seq: number; ts: string; session_id: string | null } {
    this.#seq += 1;
    return {
      seq: this.#seq,
      ts: this.#time ?? this.#now().toISOString(),
      session_id: this.#sessionId,
    };
  }
}
