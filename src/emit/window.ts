import type { ContentBlock } from "../protocol/content.ts";
import type { EventBody } from "../protocol/event.ts";
import { cutDelta, FULL_UNITS, isDelta, Merge, type DeltaBody } from "./merge.ts";

/** Above this many waiting UTF-16 code units, whoever can wait should ({@link Window.room}). */
export const QUEUE_UNITS = 256 * 1024;
/** Above this many, deltas are merged even with a window of 0 ms: memory has to be bounded. */
export const UNMERGED_UNITS = 1024 * 1024;

/** A line that is no event: it keeps its place among them, has no number and is kept nowhere. */
export interface Aside {
  type: "aside";
  /** With its end. */
  line: string;
}

/** What is printed, in order. */
export type Printed = EventBody | Aside;

export interface WindowClock {
  now(): number;
  setTimeout(callback: () => void, ms: number): NodeJS.Timeout;
  clearTimeout(timer: NodeJS.Timeout): void;
}

/**
 * The merge rules with time around them: events are pushed in, and taken out by one taker when they are
 * due. Pending text is due when the window (counted from the first pending delta) is over, when it is a
 * block's first, when there is much of it, or when an event that is no delta follows. While the
 * taker is away, since its reader is slow, deltas go on merging: a slow reader costs lines, never text.
 *
 * With a window of 0 ms every delta stays a line of its own, until more than {@link UNMERGED_UNITS} wait.
 *
 * Without a clock what is merged depends on the text alone, neither on time nor on the taker nor on how the text
 * was cut: a block is one line, or one for every {@link FULL_UNITS}. With 0 ms, too, every delta then is a line.
 */
export class Window {
  readonly #merge = new Merge();
  readonly #coalesceMs: number;
  readonly #clock: WindowClock | undefined;
  #ready: Printed[] = [];
  #readyUnits = 0;
  /** How much of it are lines that are no events. */
  #asideUnits = 0;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over = false;
  #ended = false;
  #wakeTaker: (() => void) | undefined;
  #wakePushers: (() => void)[] = [];

  constructor(coalesceMs: number, clock: WindowClock | undefined) {
    this.#coalesceMs = coalesceMs;
    this.#clock = clock;
  }

  push(body: EventBody): void {
    if (this.#clock) this.#pushInTime(body, this.#clock);
    else this.#pushByRule(body);
  }

  #pushInTime(body: EventBody, clock: WindowClock): void {
    const ready = this.#merge.add(body);
    if (ready.length > 0) this.#enqueue(ready);
    if (this.#coalesceMs === 0 && isDelta(body) && this.#waiting < UNMERGED_UNITS)
      this.#enqueue(this.#merge.flush());
    if (this.#merge.units > 0 && !this.#merge.urgent) this.#startWindow(clock);
    if (this.#ready.length > 0 || this.#merge.urgent) this.#wakeTaker?.();
  }

  #pushByRule(body: EventBody): void {
    if (isDelta(body)) this.#pushCut(body);
    else this.#enqueue(this.#merge.add(body));
    if (this.#ready.length > 0) this.#wakeTaker?.();
  }

  /** Adds a delta piece by piece, so that a full line ends at the same character however the text comes. */
  #pushCut(body: DeltaBody): void {
    for (let rest: DeltaBody | undefined = body; rest;) {
      const room = Math.max(1, FULL_UNITS - this.#merge.heldUnits);
      const [part, more]: [DeltaBody, DeltaBody | undefined] = cutDelta(rest, room);
      this.#enqueue(this.#merge.add(part));
      if (this.#coalesceMs === 0 || this.#merge.units >= FULL_UNITS) this.#enqueue(this.#merge.flush());
      rest = more;
    }
  }

  /** Puts a line behind everything that has been pushed before; what was pending is thereby due. */
  pushAside(line: string): void {
    this.#enqueue([...this.#merge.flush(), { type: "aside", line }]);
    this.#asideUnits += line.length;
    this.#wakeTaker?.();
  }

  /** No more events will be pushed; what is pending is due. */
  end(): void {
    this.#ended = true;
    if (this.#timer !== undefined) this.#clock?.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wakeTaker?.();
  }

  /** Resolves with the events that are due, in order; with undefined after the end. For one taker. */
  async take(): Promise<Printed[] | undefined> {
    while (!this.#due()) {
      if (this.#ended && this.#waiting === 0) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeTaker = resolve;
      });
      this.#wakeTaker = undefined;
    }
    if (this.#urgent || this.#over || this.#ended || this.#coalesceMs === 0)
      this.#enqueue(this.#merge.flush());
    const taken = this.#ready;
    this.#ready = [];
    this.#readyUnits = 0;
    this.#asideUnits = 0;
    this.#over = false;
    this.#since = this.#merge.units > 0 ? this.#since : undefined;
    this.#releasePushers();
    return taken;
  }

  /** Resolves when little is waiting, the way in which a slow reader slows down those who can wait; or on abort. */
  room(signal: AbortSignal): Promise<void> {
    return this.#until(() => !this.isFull, signal);
  }

  /** The same for lines that are no events. */
  roomForAsides(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.#asideUnits < QUEUE_UNITS, signal);
  }

  async #until(hasRoom: () => boolean, signal: AbortSignal): Promise<void> {
    const wake = () => this.#releasePushers();
    signal.addEventListener("abort", wake, { once: true });
    while (!hasRoom() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wakePushers.push(resolve);
      });
    }
    signal.removeEventListener("abort", wake);
  }

  /** Whether more is waiting than should be added to. */
  get isFull(): boolean {
    return this.#waiting >= QUEUE_UNITS;
  }

  get #urgent(): boolean {
    return this.#clock !== undefined && this.#merge.urgent;
  }

  get #waiting(): number {
    return this.#readyUnits + this.#merge.units;
  }

  #due(): boolean {
    return this.#ready.length > 0 || this.#urgent || ((this.#over || this.#ended) && this.#merge.units > 0);
  }

  #enqueue(items: Printed[]): void {
    for (const item of items) {
      this.#ready.push(item);
      this.#readyUnits += item.type === "aside" ? item.line.length : unitsOf(item);
    }
  }

  #startWindow(clock: WindowClock): void {
    this.#since ??= clock.now();
    // One timer serves many windows: re-armed when it fires, not when text is handed on.
    this.#timer ??= clock.setTimeout(() => this.#onTimer(clock), this.#coalesceMs);
  }

  #onTimer(clock: WindowClock): void {
    this.#timer = undefined;
    if (this.#merge.units === 0 || this.#since === undefined) return;
    const left = this.#since + this.#coalesceMs - clock.now();
    if (left > 0.5) {
      this.#timer = clock.setTimeout(() => this.#onTimer(clock), left);
      return;
    }
    this.#over = true;
    this.#wakeTaker?.();
  }

  #releasePushers(): void {
    if (this.#wakePushers.length === 0) return;
    const wake = this.#wakePushers;
    this.#wakePushers = [];
    for (const resolve of wake) resolve();
  }
}

/** Roughly what an event holds on to, in UTF-16 code units: enough to bound what waits. */
function unitsOf(body: EventBody): number {
  const ENVELOPE = 200;
  switch (body.type) {
    case "text_delta":
    case "thinking_delta":
    case "tool_output_delta":
      return ENVELOPE + body.text.length;
    case "tool_input_delta":
      return ENVELOPE + body.partial_json.length;
    case "message":
      return body.content.reduce((sum, block) => sum + blockUnits(block), ENVELOPE);
    case "tool_start":
      return ENVELOPE + jsonUnits(body.input);
    case "turn_start":
      return ENVELOPE + (typeof body.prompt === "string" ? body.prompt.length : jsonUnits(body.prompt));
    case "tool_end":
      return ENVELOPE + (typeof body.content === "string" ? body.content.length : jsonUnits(body.content));
    default:
      return ENVELOPE;
  }
}

function blockUnits(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "redacted_thinking":
    case "tool_use":
    case "other":
      return jsonUnits(block);
    default:
      return block satisfies never;
  }
}

function jsonUnits(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
