import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isKnownType } from "../../src/consume/item.ts";
import { compileCheck, isObject, type Schema } from "../../src/consume/schema-check.ts";
import { EventChecks } from "../../src/consume/validate.ts";
import { anyEventSchema, publishedJsonSchema } from "../../src/protocol/index.ts";

const published = publishedJsonSchema(anyEventSchema());

/** A list of words in which any other string may stand too, which is then all that it says. */
function isOpenWordList({ anyOf }: Record<string, unknown>): boolean {
  const ways: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return (
    ways.length > 0 &&
    ways.every((way) => isObject(way) && way["type"] === "string") &&
    ways.some((way) => isObject(way) && !Object.hasOwn(way, "enum"))
  );
}

/** Says the same without words: for a program that checks, not for a person. */
function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (!isObject(schema)) return schema;
  if (isOpenWordList(schema)) return { type: "string" };
  // Every key of JSON is a string, so that nothing need be said about it.
  const { description: _, title: _t, propertyNames: _p, properties, ...rest } = schema;
  const others = Object.entries(rest).map(([name, value]) => [name, bare(value)]);
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, value]) => [
    name,
    bare(value),
  ]);
  return { ...Object.fromEntries(others), ...(properties ? { properties: Object.fromEntries(fields) } : {}) };
}

// `vitest -u` writes the file: readers check every event, and none should load a schema library for it.
it("event-schema.generated.ts is the published schema", async () => {
  const { event: _, ...definitions } = (published["$defs"] ?? {}) as Record<string, unknown>;
  const lines = Object.entries(definitions).map(([name, schema]) => {
    return `  ${JSON.stringify(name)}: ${JSON.stringify(bare(schema))},\n`;
  });
  const source = `// Made from src/protocol by tests/consume/event-schema.test.ts (vitest -u); do not edit.
import type { Definitions } from "./schema-check.ts";

export const DEFINITIONS: Definitions = {
${lines.join("")}};
`;
  await expect(source).toMatchFileSnapshot("../../src/consume/event-schema.generated.ts");
});

const lines = readdirSync("examples/streams")
  .filter((file) => file.endsWith(".jsonl"))
  .flatMap((file) => readFileSync(join("examples/streams", file), "utf8").trimEnd().split("\n"));

const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } }).compile(published);
const checks = new EventChecks("full");
const check = (event: Record<string, unknown>) => {
  const type = String(event["type"]);
  return isKnownType(type) ? checks.faultOf(type, event) : "no known type";
};

/** Puts something else in one place of a JSON value, or takes it away. */
function damage(value: unknown, path: readonly number[], other: unknown): unknown {
  const [step = 0, ...rest] = path;
  if (Array.isArray(value) && value.length > 0) {
    const at = step % value.length;
    return value.with(at, damage(value[at], rest, other));
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    const name = Object.keys(value)[step % Object.keys(value).length] ?? "";
    return { ...value, [name]: damage(value[name], rest, other) };
  }
  return other;
}

describe("the check of an event", () => {
  it("accepts every line of the golden streams", () => {
    for (const line of lines)
      expect(check(JSON.parse(line) as Record<string, unknown>), line).toBeUndefined();
  });

  it("agrees with a JSON Schema validator on the published schema, whatever is damaged", () => {
    const other = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(undefined, 0, 1, -1, 1.5, 1e300, "", "text", null, [], {}),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...lines),
        fc.array(fc.nat(20), { maxLength: 4 }),
        other,
        (line, path, other) => {
          const { type } = JSON.parse(line) as { type: string };
          const damaged = damage(JSON.parse(line), path, other);
          const event = JSON.parse(JSON.stringify({ ...(isObject(damaged) ? damaged : {}), type })) as Record<
            string,
            unknown
          >;
          expect(check(event) === undefined, `${check(event)}: ${JSON.stringify(event)}`).toBe(ajv(event));
        },
      ),
      { numRuns: 3000 },
    );
  });

  const message = JSON.parse(lines.find((line) => line.includes('"type":"message"')) ?? "") as Record<
    string,
    unknown
  >;

  it.each([
    ["step: missing", { ...message, step: undefined }],
    ["step: not an integer", { ...message, step: "one" }],
    ["turn: not above 0", { ...message, turn: 0 }],
    ["session_id: not a string or null", { ...message, session_id: 3 }],
    ['role: not "assistant"', { ...message, role: "user" }],
    ["content.0.text: not a string", { ...message, content: [{ type: "text", text: 3 }] }],
    ["usage.input_tokens: missing", { ...message, usage: {} }],
    ["ts: not of the right form", { ...message, ts: "yesterday" }],
  ])("says: %s", (fault, event) => {
    expect(check(event)).toBe(fault);
  });

  it("knows times as the pattern does", () => {
    const digits = fc.string({
      unit: fc.constantFrom(...Array.from("0123456789")),
      minLength: 17,
      maxLength: 17,
    });
    const time = digits.map((d) => d.replace(/(....)(..)(..)(..)(..)(..)(...)/, "$1-$2-$3T$4:$5:$6.$7Z"));
    const range = { noInvalidDate: true, min: new Date("0000-01-01"), max: new Date("9999-12-31") };
    const real = fc.date(range).map((date) => date.toISOString());
    const near = fc
      .tuple(real, fc.nat(23), fc.string({ unit: "binary", maxLength: 1 }))
      .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(time, real, near), (ts) => {
        expect(check({ ...message, ts }) === undefined, ts).toBe(ajv({ ...message, ts }));
      }),
      { numRuns: 2000 },
    );
  });

  it("accepts words, fields and blocks from the future", () => {
    const later = {
      ...message,
      stop_reason: "bored",
      mood: "good",
      content: [{ type: "hologram", size: 3 }],
    };
    expect(check(later)).toBeUndefined();
  });

  it("refuses to be made from rules that it does not know", () => {
    const schema: Schema & { maxLength: number } = { type: "string", maxLength: 3 };
    expect(() => compileCheck(schema, {})).toThrow("maxLength");
    expect(() => compileCheck({ type: "date" }, {})).toThrow("date");
    expect(() => compileCheck({ $ref: "#/$defs/none" }, {})).toThrow("none");
  });
});
