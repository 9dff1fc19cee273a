import { fit } from "./width.ts";
import { wholeDuration } from "./words.ts";

/** How often the spinner moves, in ms. */
export const SPIN_MS = 120;
/** It shows itself only after so much silence, in ms: what goes on fast needs none. */
const QUIET_MS = 300;
/** Below text that is being written it waits longer. */
const QUIET_IN_TEXT_MS = 1000;

const FRAMES = Array.from("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏");
const ERASE_ROW = "\r\u001b[2K";
const UP = "\u001b[1A";
const ERASE_TO_END = "\u001b[K";

/** What is waited for. Times are on the renderer's clock, in ms. */
export interface Wait {
  what: string;
  since: number;
  /** When the wait is over, if that is known: then the time left is shown. */
  until?: number;
  /** How far it has got. */
  progress?: string;
}

/** Where the cursor stands when text is being written, and how to go on behind it. */
export interface OpenRow {
  cursor: number;
  /** What can be shown for the time being, since it is not known to be whole. */
  pending: string;
  /** Turns the row's style off and on again. */
  off: string;
  on: string;
}

/** The one row that is drawn over and over, and erased before anything else is printed. */
export class Spinner {
  readonly #columns: () => number;
  #frame = 0;
  #quietSince = 0;
  /** What takes the spinner off the terminal; "" when there is none. */
  #eraser = "";
  #wait: Wait | undefined;

  constructor(columns: () => number) {
    this.#columns = columns;
  }

  get wait(): Wait | undefined {
    return this.#wait;
  }

  waitFor(wait: Wait | undefined): void {
    this.#wait = wait;
  }

  /**
   * Something is printed: takes the spinner off first. At the beginning of a row that also takes off what the
   * terminal has echoed there, like `^C`.
   */
  erase(now: number, isRowStart: boolean): string {
    const eraser = this.#eraser === "" && isRowStart ? ERASE_ROW : this.#eraser;
    this.#eraser = "";
    this.#quietSince = now;
    return eraser;
  }

  /** The next frame, if it is time for one; `row`: text is open, `null`: nobody knows where its cursor stands. */
  draw(now: number, row: OpenRow | null | undefined): string {
    const quiet = now - this.#quietSince;
    if (!this.#wait || row === null || quiet < (row ? QUIET_IN_TEXT_MS : QUIET_MS)) return "";
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? "";
    const text = `${frame} ${fit(describe(this.#wait, now), this.#columns() - 3)}`;
    if (this.#eraser !== "") return `${ERASE_ROW}${text}`;
    if (!row) {
      this.#eraser = ERASE_ROW;
      return text;
    }
    this.#eraser = `${ERASE_ROW}${UP}\u001b[${row.cursor + 1}G${ERASE_TO_END}${row.on}`;
    return `${row.pending}${row.off}\n${text}`;
  }
}

function describe({ what, since, until, progress }: Wait, now: number): string {
  const time = until === undefined ? wholeDuration(now - since) : wholeDuration(Math.max(0, until - now));
  if (until !== undefined) return `${what} in ${time}`;
  return [time, progress, what].filter((part) => part !== undefined).join(" · ");
}
