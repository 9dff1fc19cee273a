import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PartialJson } from "../../src/consume/partial-json.ts";

function parse(...pieces: string[]): unknown {
  const partial = new PartialJson();
  for (const piece of pieces) partial.push(piece);
  return partial.value;
}

/** Whether a value can become another by more text. */
function canBecome(value: unknown, whole: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value === "string") return typeof whole === "string" && whole.startsWith(value);
  if (Array.isArray(value)) {
    return Array.isArray(whole) && value.every((item, index) => canBecome(item, whole[index]));
  }
  if (typeof value !== "object" || value === null) return Object.is(value, whole);
  if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return false;
  const other = whole as Record<string, unknown>;
  return Object.entries(value).every(
    ([key, item]) => Object.hasOwn(other, key) && canBecome(item, other[key]),
  );
}

describe("partial JSON", () => {
  it.each([
    ["", undefined],
    ["  ", undefined],
    ["{", {}],
    ['{"comm', {}],
    ['{"command"', {}],
    ['{"command": ', {}],
    ['{"command": "ls', { command: "ls" }],
    ['{"command": "ls \\', { command: "ls " }],
    ['{"command": "ls \\u00', { command: "ls " }],
    ['{"command": "ls \\u00e4"', { command: "ls ä" }],
    ['{"n": 12', {}],
    ['{"n": 12,', { n: 12 }],
    ['{"a": [1, {"b": tr', { a: [1, {}] }],
    ['{"a": [1, {"b": true}, "x', { a: [1, { b: true }, "x"] }],
    ['["a", "', ["a", ""]],
  ])("%s", (text, value) => {
    expect(parse(text)).toEqual(value);
    expect(parse(...Array.from(text))).toEqual(value);
  });

  it.each([
    '{"a": 1} x',
    '{"a": 1, }',
    '{"a": 1 "b"',
    '{"a": 1, b',
    '{"a": 1, "b" 2',
    '{"a": 1, "b": 01, "c": 1',
    '{"a": 1, "b": "\\x',
  ])("goes as far as %s is JSON", (text) => {
    expect(parse(...Array.from(text), '"more"}')).toMatchObject({ a: 1 });
  });

  it("is what JSON.parse says in the end, and on the way nothing that will not be", () => {
    const json = fc.oneof(
      fc.json(),
      fc
        .tuple(fc.jsonValue({ stringUnit: "binary" }), fc.nat(4))
        .map(([value, indent]) => JSON.stringify(value, null, indent)),
    );
    fc.assert(
      fc.property(json, fc.nat(), (text, seed) => {
        const whole: unknown = JSON.parse(text);
        const partial = new PartialJson();
        for (const [index, character] of Array.from(text).entries()) {
          partial.push(character);
          if ((index + seed) % 3 === 0) expect(canBecome(partial.value, whole)).toBe(true);
        }
        partial.push("\n");
        expect(partial.value).toEqual(whole);
        expect(JSON.stringify(partial.value)).toBe(JSON.stringify(whole));
      }),
      { numRuns: 500 },
    );
  });

  it("CO-16: hostile keys are data", () => {
    const text = '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"__proto__": 1}}}';
    const value = parse(...Array.from(text)) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    expect("polluted" in {}).toBe(false);
  });

  it("takes time in proportion, even if it is asked after each piece", () => {
    const time = (pieces: number) => {
      const partial = new PartialJson();
      const begin = process.cpuUsage();
      partial.push('{"content": "');
      for (let n = 0; n < pieces; n++) {
        partial.push("some text\\n");
        void partial.value;
      }
      const { user, system } = process.cpuUsage(begin);
      return user + system;
    };
    time(20_000);
    expect(time(400_000)).toBeLessThan(40 * Math.max(time(40_000), 5000));
  });

  it("does not mind depth", () => {
    const depth = 100_000;
    expect(parse("[".repeat(depth) + "]".repeat(depth))).toHaveLength(1);
  });
});
