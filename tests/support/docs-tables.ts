// Tables in Markdown from zod schemas: what the reference pages are made of.
import * as z from "zod";

/** The part of JSON Schema that zod writes for our schemas. */
interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  $ref?: string;
  description?: string;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  $defs?: Record<string, JsonSchema>;
}

/** Longer word lists stand in a section of their own. */
const FEW_WORDS = 8;

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The fields of an object as a table: name, type, unit, meaning. */
export function fieldTable(fields: z.ZodRawShape): string {
  const schema = jsonSchemaOf(z.object(fields));
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\`${name}\`${schema.required?.includes(name) ? "" : " (optional)"}`,
    typeOf(field),
    unitOf(name, field),
    field.description ?? "",
  ]);
  return markdownTable(["field", "type", "unit", "meaning"], rows);
}

/** The named parts that a schema is made of, each with its fields. */
export function partsOf(schema: z.ZodType): { name: string; description: string; table: string }[] {
  return Object.entries(jsonSchemaOf(schema).$defs ?? {}).map(([name, part]) => ({
    name,
    description: part.description ?? "",
    table: markdownTable(
      ["field", "type", "meaning"],
      Object.entries(part.properties ?? {}).map(([field, value]) => [
        `\`${field}\`${part.required?.includes(field) ? "" : " (optional)"}`,
        typeOf(value),
        value.description ?? (value.const === undefined ? "" : "Says which of several parts this is."),
      ]),
    ),
  }));
}

function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: "input" }) as JsonSchema;
}

function typeOf(schema: JsonSchema): string {
  const { $ref, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return partLink($ref.replace("#/$defs/", ""));
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return wordsOf(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(" or ");
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "array") return `array of ${items ? typeOf(items) : "any"}`;
  if (schema.type === "object" && properties)
    return `{${Object.entries(properties)
      .map(([name, value]) => `${name}: ${typeOf(value)}`)
      .join(", ")}}`;
  if (schema.type === "object") {
    const values = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "any";
    return values === "any JSON" ? "object" : `object of ${values}`;
  }
  return schema.type ?? "any JSON";
}

function partLink(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

function wordsOf(words: readonly unknown[]): string {
  if (words.length <= FEW_WORDS) return words.map((word) => `\`${String(word)}\``).join(", ");
  return `[a word](#${words.includes("authentication") ? "error" : "notice"}-codes)`;
}

function unitOf(name: string, { description }: JsonSchema): string {
  if (name.endsWith("_ms")) return "ms";
  if (name === "ts") return "ISO 8601, UTC";
  if (name === "usage" || name === "usage_by_model" || name.endsWith("_tokens")) return "tokens";
  return description?.includes("counted from 1") ||
    ["seq", "attempt", "max_attempts", "steps", "turns"].includes(name)
    ? "count"
    : "–";
}
