import * as z from "zod";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The JSON Schema of a protocol schema, as published in `schemas/` (draft 2020-12).
 *
 * Objects stay open, and so do word lists and the kinds of blocks and events, since within a protocol version
 * changes only add: a document from a later version must pass. What is known today is still named.
 */
export function publishedJsonSchema(schema: z.ZodType): Record<string, unknown> {
  const published = z.toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === "enum") openWords(jsonSchema);
      if (zodSchema instanceof z.ZodDiscriminatedUnion) openKinds(jsonSchema, knownKinds(zodSchema));
    },
  });
  return { ...published };
}

function openWords(jsonSchema: JsonSchema): void {
  jsonSchema.anyOf = [{ type: "string", enum: jsonSchema.enum ?? [] }, { type: "string" }];
  delete jsonSchema.enum;
  delete jsonSchema.type;
}

function openKinds(jsonSchema: JsonSchema, kinds: string[]): void {
  const unknown: JsonSchema = {
    type: "object",
    required: ["type"],
    properties: { type: { type: "string", not: { enum: kinds } } },
    description: "A kind from a later version.",
  };
  jsonSchema.anyOf = [...(jsonSchema.oneOf ?? []), unknown];
  delete jsonSchema.oneOf;
}

function knownKinds(union: z.ZodDiscriminatedUnion): string[] {
  return union.options.flatMap((option) => {
    const type = option instanceof z.ZodObject ? option.shape["type"] : undefined;
    return type instanceof z.ZodLiteral ? [...type.values].map(String) : [];
  });
}
