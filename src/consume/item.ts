import { isObject } from "./schema-check.ts";
import type { EventType } from "../protocol/events.ts";
import type { LinefeedEvent } from "../protocol/event.ts";
import { DIALECTS, type DialectName } from "../protocol/words.ts";
import type { InvalidLine } from "./invalid.ts";

/** An event of a type that is not known here: a later version wrote it, or another agent. */
export interface UnknownEvent {
  type: "unknown";
  /** The type on the line. */
  name: string;
  /** As on the line; 0 where it has none. */
  seq: number;
  /** As on the line; empty where it has none. */
  ts: string;
  session_id: string | null;
  /** The whole line. */
  raw: Record<string, unknown>;
  /** The agent that wrote it, in a converted stream. */
  dialect?: DialectName;
}

/** Every event that a stream can hold. */
export type StreamEvent = LinefeedEvent | UnknownEvent;

/** What a line can be: an event, one that is not known, or no event at all. */
export type StreamItem = StreamEvent | InvalidLine;

// Exhaustive by its type, and free of the schema library.
const KNOWN_TYPES: Record<EventType, true> = {
  init: true,
  turn_start: true,
  step_start: true,
  text_delta: true,
  thinking_delta: true,
  tool_input_delta: true,
  message: true,
  tool_start: true,
  tool_output_delta: true,
  tool_end: true,
  retry: true,
  notice: true,
  heartbeat: true,
  step_end: true,
  turn_end: true,
  result: true,
  session: true,
};

const KNOWN: ReadonlySet<string> = new Set(Object.keys(KNOWN_TYPES));

export function isKnownType(type: string): type is EventType {
  return KNOWN.has(type);
}

export function unknownEvent(type: string, line: Record<string, unknown>): UnknownEvent {
  const { seq, ts, session_id, name, raw } = line;
  const head = {
    seq: typeof seq === "number" ? seq : 0,
    ts: typeof ts === "string" ? ts : "",
    session_id: typeof session_id === "string" ? session_id : null,
  };
  const dialect = DIALECTS.find((agent) => agent === line["dialect"]);
  // As it stands in a converted stream that was written down.
  if (type === "unknown" && dialect && typeof name === "string" && isObject(raw)) {
    return { type, name, ...head, raw, dialect };
  }
  return { type: "unknown", name: type, ...head, raw: line };
}
