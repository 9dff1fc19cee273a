import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Accumulator, MAX_ANSWER_SIZE } from "../../src/model/accumulate.ts";
import type { StopReason } from "../../src/protocol/words.ts";

/** One tool call whose arguments come in these fragments. */
function call(
  fragments: readonly string[],
  {
    input = {},
    stop = "tool_use",
    close = true,
  }: { input?: unknown; stop?: StopReason; close?: boolean } = {},
) {
  const accumulator = new Accumulator();
  const index = accumulator.open({ type: "tool_use", id: "t", name: "Bash", input });
  for (const fragment of fragments) accumulator.append(index, fragment);
  const given = close ? accumulator.close(index) : undefined;
  return { given, block: accumulator.finish(stop)[0] };
}

const ok = (input: unknown) => ({ type: "tool_use", id: "t", name: "Bash", input });
const invalid = (text: string) => ({ ...ok({}), invalid_json: text });

describe("tool arguments", () => {
  it("are what JSON.parse gives for the joined fragments, however cut", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.nat({ max: 50 })),
        (input, cuts) => {
          const json = JSON.stringify(input);
          const ends = [...cuts.filter((cut) => cut < json.length), json.length].toSorted((a, b) => a - b);
          const fragments = ends.map((end, index) => json.slice(ends[index - 1] ?? 0, end));
          expect(call(fragments).block).toEqual(ok(JSON.parse(json)));
        },
      ),
    );
  });

  it("keep __proto__, extra fields and the order of keys", () => {
    const json = '{"z":1,"__proto__":{"admin":true},"a":2}';
    const { block } = call([json]);
    expect(block).toMatchObject({ type: "tool_use" });
    expect(JSON.stringify(block)).toContain(json);
    expect(JSON.stringify(block)).not.toContain("invalid_json");
  });

  it("TC-03: an empty fragment is {}; arguments in the start are used if no text comes", () => {
    expect(call([""]).block).toEqual(ok({}));
    expect(call([]).block).toEqual(ok({}));
    expect(call([], { input: { command: "ls" } })).toEqual({
      given: '{"command":"ls"}',
      block: ok({ command: "ls" }),
    });
    expect(call(['{"command":"pwd"}'], { input: { command: "ls" } }).block).toEqual(ok({ command: "pwd" }));
    expect(call([], { input: "ls" }).block).toEqual(ok({}));
  });

  it.each(['{"a":"\\d"}', '{"a":', "[1]", "null", '"text"', "1", "ls -l"])(
    "TC-04: %s is marked as unusable",
    (text) => {
      expect(call([text]).block).toEqual(invalid(text));
    },
  );

  it("that would overflow the stack of whatever walks them are marked as unusable", () => {
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(call([deep]).block).toEqual(invalid(deep));
    const fine = `{"a":${"[".repeat(400)}${"]".repeat(400)}}`;
    expect(call([fine]).block).toEqual(ok(JSON.parse(fine)));
  });

  it("FR-06: lone surrogates inside become U+FFFD", () => {
    expect(call(['{"a":"\\ud83d"}']).block).toEqual(ok({ a: "\uFFFD" }));
    expect(call(['{"a":"\ud83d']).block).toEqual(invalid('{"a":"\uFFFD'));
  });
});

describe("a message that a limit cut off", () => {
  it.each(["max_tokens", "model_context_window_exceeded"] as const)(
    "%s: the last call never runs",
    (stop) => {
      expect(call(['{"command":"ls"}'], { stop }).block).toEqual(invalid('{"command":"ls"}'));
      expect(call([], { stop, close: false }).block).toEqual(invalid(""));
    },
  );

  it("calls before the last block stay usable, unless they are still open", () => {
    const accumulator = new Accumulator();
    const first = accumulator.open({ type: "tool_use", id: "1", name: "Read", input: {} });
    accumulator.close(first);
    accumulator.open({ type: "tool_use", id: "2", name: "Read", input: {} });
    accumulator.append(accumulator.open({ type: "text" }), "And");
    expect(accumulator.finish("max_tokens")).toEqual([
      { type: "tool_use", id: "1", name: "Read", input: {} },
      { type: "tool_use", id: "2", name: "Read", input: {}, invalid_json: "" },
      { type: "text", text: "And" },
    ]);
  });

  it("an open call in a message that ended by itself is judged by its text", () => {
    expect(call(['{"command":"ls"}'], { close: false }).block).toEqual(ok({ command: "ls" }));
    expect(call(['{"command":'], { close: false }).block).toEqual(invalid('{"command":'));
  });
});

describe("texts", () => {
  it("a surrogate pair split over two fragments is whole; a lone half becomes U+FFFD", () => {
    const accumulator = new Accumulator();
    const index = accumulator.open({ type: "text" });
    for (const piece of ["a\ud83e", "\udd8a", "b\ud83e"]) accumulator.append(index, piece);
    expect(accumulator.finish("end_turn")).toEqual([{ type: "text", text: "a🦊b\uFFFD" }]);
  });

  it("thinking keeps its signature, and has none if none came", () => {
    const accumulator = new Accumulator();
    const signed = accumulator.open({ type: "thinking" });
    accumulator.append(signed, "Hm");
    accumulator.sign(signed, "ab");
    accumulator.sign(signed, "cd");
    accumulator.open({ type: "thinking" });
    expect(accumulator.finish("end_turn")).toEqual([
      { type: "thinking", thinking: "Hm", signature: "abcd" },
      { type: "thinking", thinking: "" },
    ]);
  });

  it("nothing is added to a block that is closed or was never opened", () => {
    const accumulator = new Accumulator();
    const index = accumulator.open({ type: "text" });
    accumulator.append(index, "a");
    accumulator.close(index);
    accumulator.append(index, "b");
    accumulator.append(7, "c");
    expect(accumulator.finish("end_turn")).toEqual([{ type: "text", text: "a" }]);
  });

  it("an answer over 32 MiB is given up", () => {
    const accumulator = new Accumulator();
    const index = accumulator.open({ type: "text" });
    const piece = "x".repeat(MAX_ANSWER_SIZE / 2);
    accumulator.append(index, piece);
    accumulator.append(index, piece);
    expect(() => accumulator.append(index, "x")).toThrow(
      expect.objectContaining({ code: "malformed_response" }),
    );
  });
});
