import * as z from "zod";
import { EVENTS, EVENT_TYPES, type EventType } from "./events.ts";

/** The head of every line. */
export const envelope = {
  seq: z
    .int()
    .nonnegative()
    .describe("Counts 1, 2, 3 … through the session without a gap; 0 marks a line that is in no log."),
  ts: z.iso.datetime({ precision: 3 }).describe("When the line was encoded: ISO 8601, UTC, milliseconds."),
  session_id: z.string().nullable().describe("The session (UUIDv7); null where there is none."),
  parent_tool_use_id: z.string().optional().describe("Kept free for sub-agents."),
};

type Fields<T extends EventType> = z.infer<z.ZodObject<(typeof EVENTS)[T]["fields"]>>;

/** An event before it is stamped: what the agent yields. */
export type EventBodyOf<T extends EventType> = { type: T } & Fields<T>;
export type EventBody = { [T in EventType]: EventBodyOf<T> }[EventType];

/** What `stamp` adds. `session_id` is null only in a lone `result`. */
export interface Envelope {
  seq: number;
  ts: string;
  session_id: string | null;
}

/** An event as it stands on its line. */
export type EventOf<T extends EventType> = EventBodyOf<T> & Envelope;
export type LinefeedEvent = { [T in EventType]: EventOf<T> }[EventType];

/** The schema of one event type, envelope included. */
export function eventSchema(type: EventType): z.ZodObject {
  const { description, fields } = EVENTS[type];
  return z
    .object({ type: z.literal(type), ...envelope, ...fields })
    .meta({ id: type, title: type, description });
}

/** The schema of any line. */
export function anyEventSchema(): z.ZodType {
  const [first, ...rest] = EVENT_TYPES.map(eventSchema);
  if (first === undefined) throw new TypeError("the event table is empty");
  return z.discriminatedUnion("type", [first, ...rest]).meta({ id: "event", title: "A linefeed line" });
}
