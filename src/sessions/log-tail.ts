import { open, type FileHandle } from "node:fs/promises";
import { EventParser } from "../consume/parser.ts";
import type { Usage } from "../protocol/content.ts";
import type { EventOf, LinefeedEvent } from "../protocol/event.ts";
import { UsageTotal } from "../protocol/usage.ts";
import { linesBackwards, readLine, type LinePlace } from "./last-lines.ts";
import { headOf } from "./whole-lines.ts";

/** What is further from the end is not looked at, in bytes, but for the last line itself. */
const LOOKED_AT_BYTES = 8 * 1024 * 1024;
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

/**
 * Reads a log from its end, as far as it needs to: the time and memory that this takes do not grow with the log.
 * @throws the system's error.
 */
export async function readLogTail(path: string): Promise<LogTail> {
  const file = await open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const fold = new BackwardFold();
    for await (const place of linesBackwards(file, size)) {
      await takeIn(fold, file, place);
      if (fold.knowsAll || size - place.begin > LOOKED_AT_BYTES)
        return { ...fold.tail, size, writtenMs: mtimeMs };
    }
    fold.reachBegin();
    return { ...fold.tail, size, writtenMs: mtimeMs };
  } finally {
    await file.close();
  }
}

async function takeIn(fold: BackwardFold, file: FileHandle, place: LinePlace): Promise<void> {
  const type = headOf(place.head)?.type;
  if (type !== undefined && !TELLING.has(type)) return fold.pass(type);
  const event = type === undefined ? undefined : eventOf(await readLine(file, place));
  if (event) fold.apply(event);
  // What is half written or torn is no line yet.
  else if (place.ended) fold.passBad();
}

/** Undefined for a line that is no event. */
function eventOf(line: string): LinefeedEvent | undefined {
  const parser = new EventParser();
  parser.push(`${line}\n`);
  const item = parser.next();
  return item === undefined || item.type === "invalid" || item.type === "unknown" ? undefined : item;
}

/** A fold over the lines of a log from the last one on. */
class BackwardFold {
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

  get tail(): Omit<LogTail, "size" | "writtenMs"> {
    const known = this.#sawInit ? this.#usage.total : null;
    return {
      phase: this.#phase,
      result: this.#result,
      text: this.#result ? this.#result.text : this.#text,
      turns: this.#turns,
      steps: this.#steps,
      usage: this.#result ? this.#result.usage : known,
      damage: this.#damage,
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
