import { encode } from "../emit/encode.ts";
import { createStamp } from "../emit/stamp.ts";
import type { EventBody } from "../protocol/event.ts";

export interface EventLinesOptions {
  /** Default: `00000000-0000-7000-8000-000000000000`. */
  sessionId?: string;
  /** The number of the first line. Default: 1. */
  firstSeq?: number;
  /** The time of the first line; each further one is a millisecond later. Default: 2026-01-01T00:00:00.000Z. */
  begin?: Date;
}

/**
 * The lines that linefeed would print for these events, numbered and stamped, as one text: what a program that reads
 * linefeed can be tested with, also on events that are hard to come by. Nobody checks that the order is one that a run
 * could have; `linefeed check` does.
 *
 * @example
 * eventLines([{ type: "heartbeat", turn: 1, step: 1, waiting_for: "model", elapsed_ms: 15_000 }]);
 */
export function eventLines(bodies: readonly EventBody[], options: EventLinesOptions = {}): string {
  const {
    sessionId = "00000000-0000-7000-8000-000000000000",
    firstSeq = 1,
    begin = new Date("2026-01-01T00:00:00.000Z"),
  } = options;
  let lines = 0;
  const date = () => new Date(begin.getTime() + lines++);
  const stamp = createStamp({ sessionId, firstSeq, date });
  return bodies.map((body) => encode(stamp(body))).join("");
}
