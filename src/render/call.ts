import type { EventOf } from "../protocol/event.ts";
import { count, duration, plainText } from "./words.ts";

/** So many lines of what a call printed are shown. */
const SHOWN_LINES = 3;

/** A row below a call. */
export interface Row {
  kind: "output" | "left-out";
  text: string;
}

/** One call, from its start to its end: which of its lines are shown, and when. */
export class Call {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  /** When it began, on the renderer's clock, in ms. */
  readonly began: number;
  end: EventOf<"tool_end"> | undefined;
  /** Lines that are whole and not printed yet. */
  #ready: string[] = [];
  /** The unfinished line of each stream. */
  readonly #partial = new Map<string, string>();
  #taken = 0;
  #lines = 0;

  constructor(id: string, name: string, summary: string, began: number) {
    this.id = id;
    this.name = name;
    this.summary = summary;
    this.began = began;
  }

  /** How many lines the call has printed so far. */
  get lines(): number {
    return this.#lines;
  }

  add({ stream, text }: EventOf<"tool_output_delta">): void {
    const [first = "", ...more] = text.split("\n");
    const lines = [(this.#partial.get(stream) ?? "") + first, ...more];
    const last = lines.pop() ?? "";
    this.#lines += lines.length;
    this.#ready.push(...lines.slice(0, this.#room));
    // Of a line without end only its beginning can be shown.
    if (this.#room > 0) this.#partial.set(stream, last.slice(0, 10_000));
  }

  /** Live lines that are due now. */
  takeLive(): string[] {
    const live = this.#ready.splice(0);
    this.#taken += live.length;
    return live;
  }

  get #room(): number {
    return Math.max(0, SHOWN_LINES - this.#taken - this.#ready.length);
  }

  /**
   * What follows what was shown live. Of a call that failed the end is shown as well, where the reason mostly is.
   */
  rest(end: EventOf<"tool_end">): Row[] {
    const unfinished = [...this.#partial.values()].filter((line) => line !== "").slice(0, this.#room);
    const live = [...this.takeLive(), ...unfinished].map((text): Row => ({ kind: "output", text }));
    const lines = contentLines(end);
    const shown = this.#taken + unfinished.length;
    const begin = shown > 0 ? shown : Math.min(lines.length, SHOWN_LINES);
    const head = shown > 0 ? [] : lines.slice(0, begin);
    const left = lines.slice(begin);
    const tail = end.status === "ok" ? [] : left.slice(-SHOWN_LINES);
    const leftOut = left.length - tail.length;
    const rows: Row[] = [...live, ...head.map((text): Row => ({ kind: "output", text }))];
    if (leftOut > 0) rows.push({ kind: "left-out", text: `(+${count(leftOut, "line")})` });
    return [...rows, ...tail.map((text): Row => ({ kind: "output", text }))];
  }
}

/** What the model was told, without what the verdict says anyway. */
function contentLines(end: EventOf<"tool_end">): string[] {
  const lines = plainText(end.content).replace(/\n+$/, "").split("\n");
  if (end.status === "denied") lines[0] = lines[0]?.replace(/^Permission denied: /, "") ?? "";
  if (lines.at(-1) === `Exit code ${end.exit_code}`) lines.pop();
  if (lines[0] === "(no output)" || (lines.length === 1 && lines[0] === "")) lines.shift();
  return lines;
}

/** How a call ended, in words. */
export function verdict({ status, exit_code, duration_ms }: EventOf<"tool_end">): string {
  const time = duration_ms ? duration(duration_ms) : "";
  return [verdictWord(status, exit_code), time].filter((word) => word !== "").join(" · ") || "ok";
}

function verdictWord(status: EventOf<"tool_end">["status"], exitCode: number | null): string {
  switch (status) {
    case "ok":
      return exitCode === null || exitCode === 0 ? "" : `exit code ${exitCode}`;
    case "error":
      return exitCode === null || exitCode === 0 ? "failed" : `exit code ${exitCode}`;
    case "denied":
      return "denied";
    case "cancelled":
      return "cancelled";
    case "timeout":
      return "timed out";
    default:
      return status satisfies never;
  }
}
