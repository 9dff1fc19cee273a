import { readdirSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { SCHEMAS } from "../src/cli/schemas.ts";
// `vitest -u` writes these files; there is no other generator.

const schemas: Record<string, object> = Object.fromEntries(
  SCHEMAS.map(({ name, schema }) => [name, schema()]),
);

it.each(Object.keys(schemas))("schemas/%s.json is what the code says", async (name) => {
  await expect(`${JSON.stringify(schemas[name], null, 2)}\n`).toMatchFileSnapshot(`../schemas/${name}.json`);
});

it("schemas/ holds nothing else", () => {
  const files = readdirSync("schemas").toSorted();
  expect(files).toEqual(
    Object.keys(schemas)
      .map((name) => `${name}.json`)
      .toSorted(),
  );
});

describe("event.json, to a validator", () => {
  const validate = new Ajv2020({ strict: false, formats: { "date-time": true } }).compile(
    schemas["event"] ?? {},
  );
  const head = { seq: 1, ts: "2026-01-01T00:00:00.000Z", session_id: "s" };
  const message = {
    type: "message",
    ...head,
    turn: 1,
    step: 1,
    id: "m",
    role: "assistant",
    model: "x",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage: null,
    request_id: null,
  };

  it.each([
    ["what is known", message],
    ["an event type from the future", { type: "hologram", ...head, anything: [1] }],
    ["a field from the future", { ...message, mood: "good" }],
    ["a word from the future", { ...message, stop_reason: "bored" }],
    ["a block from the future", { ...message, content: [{ type: "hologram", size: 3 }] }],
  ])("accepts %s", (_, document) => {
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    ["a missing field", { ...message, step: undefined }],
    ["a wrong type", { ...message, step: "one" }],
    ["a known block with a wrong field", { ...message, content: [{ type: "text", text: 3 }] }],
    ["no type", { ...head }],
  ])("refuses %s", (_, document) => {
    expect(validate(JSON.parse(JSON.stringify(document)))).toBe(false);
  });
});
