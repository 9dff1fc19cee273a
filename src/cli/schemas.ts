import * as z from "zod";
import { scriptSchema } from "../model/scripted/script.ts";
import {
  anyEventSchema,
  EVENT_TYPES,
  EVENTS,
  eventSchema,
  publishedJsonSchema,
  userMessage,
} from "../protocol/index.ts";

export interface PublishedSchema {
  name: string;
  /** What it describes. */
  about: string;
  /** JSON Schema, draft 2020-12. */
  schema(): Record<string, unknown>;
}

/** Every schema that linefeed publishes, as files in `schemas/` and by `linefeed schema`. */
export const SCHEMAS: readonly PublishedSchema[] = [
  { name: "event", about: "any line of a stream", schema: () => publishedJsonSchema(anyEventSchema()) },
  ...EVENT_TYPES.map((type) => ({
    name: type,
    about: EVENTS[type].description,
    schema: () => publishedJsonSchema(eventSchema(type)),
  })),
  // What people write for us has word lists as closed as the parser that reads it.
  { name: "script", about: "a script for --fake", schema: () => inputSchema(scriptSchema) },
  {
    name: "input",
    about: "a line of stdin under --input-format jsonl",
    schema: () => inputSchema(userMessage),
  },
];

function inputSchema(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { io: "input" }) };
}
