import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventBody } from "../../src/protocol/event.ts";
import { encodeFitting, LINE_BYTES } from "../../src/emit/formats/stream-json/fit.ts";
import { init, stamped } from "../consume/support.ts";
import { clientLines, streamJson } from "../support/stream-json.ts";

const MARK = /linefeed cut \d+ of \d+ characters here/;

function fitted(value: object): Record<string, unknown> {
  const line = encodeFitting(value);
  expect(Buffer.byteLength(line)).toBeLessThan(LINE_BYTES + 1);
  expect(line.indexOf("\n")).toBe(line.length - 1);
  return JSON.parse(line) as Record<string, unknown>;
}

describe("a line of stream-json", () => {
  it("is whole as long as it fits, whatever it is made of", () => {
    const line = { type: "x", a: "y".repeat(999_000), n: 1, missing: undefined };
    expect(fitted(line)).toEqual({ type: "x", a: line.a, n: 1 });
  });

  it.each([
    ["ASCII", "x"],
    ["characters of four bytes", "😀"],
    ["characters of three bytes", "漢"],
    ["escapes", "\u0001"],
    ["escapes that linefeed adds", "\u2028"],
    ["backslashes", "\\"],
  ])(
    "CO-01: a long text of %s loses its middle, between characters, and says how much",
    (_name, character) => {
      const content = character.repeat(1_000_000);
      const { content: cut } = fitted({ type: "user", content });
      expect(cut).toMatch(MARK);
      const [head = "", tail = ""] = String(cut).split(/ … \[[^\]]*\] … /);
      expect(content.startsWith(head)).toBe(true);
      expect(content.endsWith(tail)).toBe(true);
      expect(head + tail).not.toContain("\ufffd");
      // It keeps about as much as there is room for.
      expect(Buffer.byteLength(JSON.stringify(cut))).toBeGreaterThan(LINE_BYTES / 2);
      const [, lost, of] = /cut (\d+) of (\d+)/.exec(String(cut)) ?? [];
      expect(Number(lost)).toBe(content.length - head.length - tail.length);
      expect(Number(of)).toBe(content.length);
    },
  );

  it("cuts the long and leaves the short alone", () => {
    const line = {
      type: "assistant",
      message: {
        content: [
          { type: "text", text: "short" },
          { type: "tool_use", id: "t", name: "Write", input: { file_path: "/a", content: "y".repeat(3e6) } },
        ],
      },
      uuid: "u",
    };
    const cut = fitted(line);
    expect(cut).toMatchObject({
      type: "assistant",
      message: { content: [line.message.content[0], { name: "Write", input: { file_path: "/a" } }] },
      uuid: "u",
    });
    expect(JSON.stringify(cut)).toMatch(MARK);
  });

  it("leaves out an image whole, since half of one is none", () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "A".repeat(2e6) },
    };
    const { content } = fitted({ content: [{ type: "text", text: "a" }, image] });
    expect(content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: expect.stringContaining("linefeed left out an image") as string },
    ]);
  });

  it("of very many members the first stay, and blocks stay blocks", () => {
    const blocks = Array.from({ length: 50_000 }, (_, index) => ({ type: "text", text: `block ${index}` }));
    const { content } = fitted({ content: blocks });
    expect(Array.isArray(content) ? content.at(-1) : undefined).toMatchObject({ type: "text" });
    const { input } = fitted({ input: Object.fromEntries(blocks.map(({ text }) => [text, text.repeat(9)])) });
    expect(input).toMatchObject({ "block 0": "block 0".repeat(9) });
  });

  it("fits whatever the value is, nested too deeply to be looked into as well", () => {
    let deep: unknown = "z".repeat(2e6);
    for (let depth = 0; depth < 500; depth += 1) deep = [deep];
    expect(JSON.stringify(fitted({ type: "x", deep }))).toContain("linefeed cut a value here");
    const long = fc
      .integer({ min: 0, max: 400_000 })
      .chain((length) =>
        fc.constantFrom("a", "é", "漢", "😀", '"', "\u0000").map((character) => character.repeat(length)),
      );
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, long, fc.integer(), tie("list"), tie("record")),
      list: fc.array(tie("value"), { maxLength: 5 }),
      record: fc.dictionary(fc.string(), tie("value"), { maxKeys: 5 }),
    })).value;
    fc.assert(
      fc.property(value, (any) => {
        expect(fitted({ type: "x", any })).toMatchObject({ type: "x" });
      }),
      { numRuns: 30 },
    );
  });

  it("a long delta becomes several lines and loses nothing", () => {
    const words = "\u0001😀".repeat(200_000);
    const delta: EventBody = { type: "text_delta", step: 1, block: 0, text: words };
    const start: EventBody = { type: "step_start", turn: 1, step: 1, attempt: 1, model: "m" };
    const lines = streamJson(stamped([init, start, delta]), { partials: true });
    for (const line of lines.split("\n")) expect(Buffer.byteLength(line)).toBeLessThan(LINE_BYTES);
    const joined = clientLines(lines).map(({ event }) => event.delta?.text ?? "");
    expect(joined.join("")).toBe(words);
  });
});
