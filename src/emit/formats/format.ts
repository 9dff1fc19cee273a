import type { LinefeedEvent } from "../../protocol/event.ts";

/** How events become the bytes on stdout. */
export interface Format {
  /** What the event adds to stdout; undefined or "": nothing. */
  event(event: LinefeedEvent): string | undefined;
  /** Whether what an event adds is its line, so that whoever has that need not ask. */
  readonly addsLines?: boolean;
  /** What a line that is no event adds, in words; without it there is no place for such a line. */
  remark?(text: string): string;
  /** The exit code that its readers expect of a run that no signal ended, by what it has printed; without it they expect ours. */
  exitCode?(): number;
  /** What is printed while nothing else is: a sign of life that the next event takes back. */
  readonly tick?: Tick | undefined;
}

export interface Tick {
  /** How often it is asked for text, in ms. */
  readonly intervalMs: number;
  /** What is to be printed now; "": nothing. */
  text(): string;
}
