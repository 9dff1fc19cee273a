import * as z from "zod";

/**
 * The JSON Schema of a protocol schema, as published in `schemas/` (draft 2020-12).
 *
 * Objects stay open and word lists too, since within a protocol version changes only add: a document
 * from a later version must pass. The words known today are still named.
 */
export function publishedJsonSchema(schema: z.ZodType): Record<string, unknown> {
  const published = z.toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type !== "enum" || jsonSchema.enum === undefined) return;
      jsonSchema.anyOf = [{ type: "string", enum: jsonSchema.enum }, { type: "string" }];
      delete jsonSchema.enum;
      delete jsonSchema.type;
    },
  });
  return { ...published };
}
