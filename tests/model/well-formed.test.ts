import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wellFormed } from "../../src/model/well-formed.ts";

describe("wellFormed", () => {
  it("FR-06: replaces lone surrogates in strings and keys, however deep", () => {
    const value = { a: ["x\ud800", { "k\udc00": "🦊\ud83e" }] };
    expect(wellFormed(value)).toEqual({ a: ["x\uFFFD", { "k\uFFFD": "🦊\uFFFD" }] });
    expect(value.a[0]).toBe("x\ud800");
  });

  it("returns the very value where there is nothing to do", () => {
    const value = { a: [1, null, "≤", { b: true }] };
    expect(wellFormed(value)).toBe(value);
  });

  it("keeps __proto__ an own plain key, and the order of keys", () => {
    const value: unknown = JSON.parse('{"z":"\\ud800","__proto__":{"a":"\\udc00"},"b":1}');
    expect(JSON.stringify(wellFormed(value))).toBe('{"z":"\uFFFD","__proto__":{"a":"\uFFFD"},"b":1}');
  });

  it("gives JSON that a strict encoder takes, for any value", () => {
    const anyString = fc.string({ unit: "binary" }).map((text) => `${text}\ud800`);
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), anyString, (value, text) => {
        const json = JSON.stringify(wellFormed({ value, [text]: text }));
        expect(json.isWellFormed()).toBe(true);
        expect(json).not.toMatch(/\\ud[89a-f]/i);
      }),
    );
  });
});
