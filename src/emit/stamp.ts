import type { Envelope, EventBody, LinefeedEvent } from "../protocol/event.ts";

/** Gives events their place in the stream. */
export interface Stamp {
  /** Call it once for each line, right before encoding. */
  (body: EventBody): LinefeedEvent;
  /** Gives the latest numbers once more: the lines that had them have gone nowhere. */
  takeBack(lines: number): void;
}

export interface StampOptions {
  sessionId: string;
  /** The number of the first line. */
  firstSeq: number;
  /** The current time. */
  date: () => Date;
}

export function createStamp({ sessionId, firstSeq, date }: StampOptions): Stamp {
  let seq = firstSeq;
  const stamp = (body: EventBody) =>
    withEnvelope(body, { seq: seq++, ts: date().toISOString(), session_id: sessionId });
  const takeBack = (lines: number) => {
    seq -= lines;
  };
  return Object.assign(stamp, { takeBack });
}

/** The stamp of a line that is in no log: `seq` is 0. */
export function stampLone(body: EventBody, sessionId: string | null, date: Date): LinefeedEvent {
  return withEnvelope(body, { seq: 0, ts: date.toISOString(), session_id: sessionId });
}

/** `type`, `seq`, `ts`, `session_id` come first, in that order: people read lines by their heads. */
function withEnvelope(body: EventBody, envelope: Envelope): LinefeedEvent {
  const head = { type: body.type, ...envelope };
  return { ...head, ...body };
}
