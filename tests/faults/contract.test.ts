import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventSchema } from "../../src/protocol/event.ts";
import { EVENT_TYPES } from "../../src/protocol/events.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/version.ts";
import { lint, parseLines } from "../support/lint.ts";

// What the first version with protocol 1 printed: a line for each type of event, and for each shape it had. It is
// edited only before that version is released; later, whatever these tests find is a new protocol.
const first = parseLines(readFileSync("tests/faults/protocol-1.jsonl"));

describe("SC-01: within protocol 1 changes only add", () => {
  it("the first line of a run names the protocol", () => {
    expect(PROTOCOL_VERSION).toBe(1);
    expect(first.find(({ type }) => type === "init")).toMatchObject({ protocol: PROTOCOL_VERSION });
  });

  it("no type of event is lost", () => {
    expect(EVENT_TYPES).toEqual(expect.arrayContaining([...new Set(first.map(({ type }) => type))]));
    expect(new Set(first.map(({ type }) => type)).size).toBeGreaterThanOrEqual(17);
  });

  it("no field is lost, renamed, of another type, or there only at times", () => {
    for (const event of first) {
      const schema = eventSchema(event.type);
      // Without what is required now: new fields may be.
      const { data, error } = schema.partial().safeParse(event);
      expect(error, event.type).toBeUndefined();
      expect(data).toEqual(event);
      expect(requiredIn(event.type)).toEqual(expect.arrayContaining(Object.keys(event)));
    }
  });
});

describe("SC-02: what the tests see on stdout", () => {
  const stream = readFileSync("examples/streams/tools.jsonl", "utf8");

  it("has no type and no field that docs/events.md does not have", () => {
    const page = readFileSync("docs/events.md", "utf8");
    for (const event of first) {
      const [, section = ""] = new RegExp(`^### ${event.type}$([^]*?)^### `, "m").exec(`${page}\n### `) ?? [];
      const { type: _, seq: _1, ts: _2, session_id: _3, ...fields } = event;
      for (const key of Object.keys(fields)) expect(section, event.type).toContain(`| \`${key}\``);
    }
  });

  it.each([
    ["on a line", /"duration_ms":/, '"mood":"good","duration_ms":'],
    ["in an object of a line", /"usage":\{/, '"usage":{"mood":1,'],
    ["in a block", /"content":\[\{/, '"content":[{"mood":1,'],
    ["as a word", /"status":"ok"/, '"status":"bored"'],
    ["as an event", /"type":"step_start"/, '"type":"step_began"'],
  ])("is looked at in every test: what is new %s is found", (_, known, added) => {
    expect(lint(Buffer.from(stream))).toEqual([]);
    expect(known.test(stream)).toBe(true);
    expect(lint(Buffer.from(stream.replace(known, added)))).not.toEqual([]);
  });
});

function requiredIn(type: string): unknown {
  const page = JSON.parse(readFileSync(`schemas/${type}.json`, "utf8")) as {
    $defs: Record<string, { required?: string[] }>;
  };
  return page.$defs[type]?.required;
}
