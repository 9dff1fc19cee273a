import type { Usage } from "../protocol/content.ts";
import type { EventOf, LinefeedEvent } from "../protocol/event.ts";
import { UsageTotal } from "../protocol/usage.ts";

/** The lines that say something about a session as a whole; of others the type is enough. */
const TELLING = new Set([
  "init",
  "turn_start",
  "step_start",
  "message",
  "retry",
  "step_end",
  "turn_end",
  "result",
]);
/** They may stand anywhere. */
const ANYWHERE = new Set(["notice", "heartbeat"]);

/** How far the latest run had come with the last line: begun, at a turn, between turns, or at its last word. */
export type RunPhase = "begun" | "at_turn" | "between_turns" | "ended";

/** What the end of a log says. Null is what is not said there. */
export interface LogTail {
  /** Null if the log has no line. */
  phase: RunPhase | null;
  /** The last word of the latest run, if it has ended. */
  result: EventOf<"result"> | null;
  /** What the model wrote last in the latest run. */
  text: string | null;
  /** Of the whole session. */
  turns: number | null;
  steps: number | null;
  /** Of the latest run, as far as it has come. */
  usage: Usage | null;
  /** What is wrong with the last whole line. */
  damage: string | null;
  /** In bytes. */
  size: number;
  /** When it was written to, in ms. */
  writtenMs: number;
}

/** Whether a line of this type is to be applied; of others it is enough to pass the type. */
export function isTelling(type: string): boolean {
  return TELLING.has(type);
}

/** A fold over the lines of a log from the last one on. */
export class TailFold {
  #phase: RunPhase | null = null;
  #result: EventOf<"result"> | null = null;
  #text: string | null = null;
  #turns: number | null = null;
  #steps: number | null = null;
  #damage: string | null = null;
  readonly #usage = new UsageTotal();
  /** Whether all lines of the latest run were seen. */
  #sawInit = false;
  /** Whether what comes now is an earlier run's. */
  #isOtherRun = false;

  get knowsAll(): boolean {
    return this.#isOtherRun && this.#turns !== null && this.#steps !== null;
  }

  /** What it has found. @param writtenMs when the log was written to, in ms. @param size how long it is, in bytes. */
  tail(size: number, writtenMs: number): LogTail {
    const known = this.#sawInit ? this.#usage.total : null;
    return {
      phase: this.#phase,
      result: this.#result,
      text: this.#result ? this.#result.text : this.#text,
      turns: this.#turns,
      steps: this.#steps,
      usage: this.#result ? this.#result.usage : known,
      damage: this.#damage,
      size,
      writtenMs,
    };
  }

  /** A line of which only the type is known. */
  pass(type: string): void {
    if (!ANYWHERE.has(type)) this.#phase ??= "at_turn";
  }

  passBad(): void {
    if (this.#phase === null) this.#damage = "its last line is no event";
    this.#phase ??= "at_turn";
  }

  /** There are no more lines: what was not seen has not been. */
  reachBegin(): void {
    this.#turns ??= 0;
    this.#steps ??= 0;
  }

  apply(event: LinefeedEvent): void {
    if ("turn" in event && event.turn !== null) this.#turns ??= event.turn;
    if ("step" in event && event.step !== null) this.#steps ??= event.step;
    if (!this.#isOtherRun) this.#applyToRun(event);
    this.#phase ??= phaseAfter(event);
  }

  #applyToRun(event: LinefeedEvent): void {
    switch (event.type) {
      case "result":
        // Any but the last line is the end of an earlier run.
        if (this.#phase === null) this.#result = event;
        this.#isOtherRun = true;
        break;
      case "init":
        this.#sawInit = true;
        this.#isOtherRun = true;
        break;
      case "message":
        this.#text ??= textOf(event);
        this.#usage.add(event.model, event.usage);
        break;
      case "retry":
        this.#usage.add("", event.usage);
        break;
      default:
    }
  }
}

function phaseAfter({ type }: LinefeedEvent): RunPhase {
  switch (type) {
    case "init":
      return "begun";
    case "turn_end":
      return "between_turns";
    case "result":
      return "ended";
    default:
      return "at_turn";
  }
}

/** Null if the message has no text. */
function textOf({ content }: EventOf<"message">): string | null {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  return text.trim() === "" ? null : text;
}
