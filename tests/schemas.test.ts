import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import * as z from "zod";
import { scriptSchema } from "../src/model/scripted/script.ts";
import { anyEventSchema, EVENT_TYPES, eventSchema, publishedJsonSchema } from "../src/protocol/index.ts";

// `vitest -u` writes these files; there is no other generator.

const schemas: Record<string, object> = {
  event: publishedJsonSchema(anyEventSchema()),
  ...Object.fromEntries(EVENT_TYPES.map((type) => [type, publishedJsonSchema(eventSchema(type))])),
  // A script is our input, not our output: its word lists are as closed as the parser that reads it.
  script: { ...z.toJSONSchema(scriptSchema, { io: "input" }) },
};

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
