import type { Envelope, EventBody, LinefeedEvent } from "../protocol/event.ts";

/** Gives an event its place in the stream. Call it once for each line, right before encoding. */
export type Stamp = (body: EventBody) => LinefeedEvent;

export interface StampOptions {
  sessionId: string;
  /** The number of the first line. */
  firstSeq: number;
  /** The current time. */
  date: () => Date;
}

export function createStamp({ sessionId, firstSeq, date }: StampOptions): Stamp {
  let seq = firstSeq;
  return (body) => withEnvelope(body, { seq: seq++, ts: date().toISOString(), session_id: sessionId });
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
