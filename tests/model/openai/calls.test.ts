import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatAnswer, type CallFragment } from "../../../src/testing/index.ts";
import { ask } from "./support.ts";

const part = (args: unknown, more: object = {}): CallFragment => ({ function: { arguments: args }, ...more });
const start = (
  id: string | undefined,
  name: string,
  args: unknown = "",
  more: object = {},
): CallFragment => ({
  ...(id === undefined ? {} : { id }),
  type: "function",
  function: { name, arguments: args },
  ...more,
});
const ls = { command: "ls" };
const TWO = [
  { id: "a", name: "Bash", input: ls },
  { id: "b", name: "Read", input: { path: "x" } },
];

/** Each list is one chunk. */
async function assembled(...chunks: CallFragment[][]) {
  const answer = chatAnswer();
  for (const fragments of chunks) answer.calls(...fragments);
  const { done, chunks: deltas, notices } = await ask(answer.done());
  const calls = (done?.content ?? []).flatMap((block) =>
    block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
  // What was shown is what the message holds.
  const shown = calls.map(({ id }) =>
    deltas
      .map((delta) => (delta.type === "tool_input" && delta.toolUseId === id ? delta.partialJson : ""))
      .join(""),
  );
  expect(shown.map((json) => JSON.parse(json.trim() || "{}"))).toEqual(calls.map(({ input }) => input));
  return { calls, notices };
}

describe("TC-01: two calls", () => {
  it.each<[string, CallFragment[][]]>([
    [
      "by the book",
      [
        [start("a", "Bash", "", { index: 0 })],
        [part('{"command"', { index: 0 })],
        [part(':"ls"}', { index: 0 })],
        [start("b", "Read", "", { index: 1 })],
        [part('{"path":"x"}', { index: 1 })],
      ],
    ],
    [
      "side by side",
      [
        [start("a", "Bash", "", { index: 0 }), start("b", "Read", "", { index: 1 })],
        [part('{"command":', { index: 0 }), part('{"path":', { index: 1 })],
        [part('"x"}', { index: 1 }), part('"ls"}', { index: 0 })],
      ],
    ],
    [
      "without index, id in the first fragment alone",
      [
        [start("a", "Bash")],
        [part('{"command"')],
        [part(':"ls"}')],
        [start("b", "Read", '{"path":')],
        [part('"x"}')],
      ],
    ],
    [
      "without index, id in every fragment",
      [
        [start("a", "Bash")],
        [part('{"command":"ls"}', { id: "a" })],
        [start("b", "Read")],
        [part('{"path":"x"}', { id: "b" })],
      ],
    ],
    [
      "without index, id and name in every fragment",
      [
        [start("a", "Bash", '{"command"')],
        [start("a", "Bash", ':"ls"}')],
        [start("b", "Read", '{"path"')],
        [start("b", "Read", ':"x"}')],
      ],
    ],
    [
      "with one index for all",
      [
        [start("a", "Bash", '{"command"', { index: 0 })],
        [part(':"ls"}', { index: 0 })],
        [start("b", "Read", '{"path":"x"}', { index: 0 })],
      ],
    ],
    [
      "whole, in one chunk, with one index",
      [
        [
          start("a", "Bash", '{"command":"ls"}', { index: 0 }),
          start("b", "Read", '{"path":"x"}', { index: 0 }),
        ],
      ],
    ],
    [
      "whole, in one chunk, without index",
      [[start("a", "Bash", '{"command":"ls"}'), start("b", "Read", '{"path":"x"}')]],
    ],
    [
      "with arguments as objects",
      [[start("a", "Bash", ls, { index: 0 })], [start("b", "Read", { path: "x" }, { index: 1 })]],
    ],
    [
      "with names in pieces",
      [
        [start("a", "Ba", "", { index: 0 })],
        [{ index: 0, function: { name: "sh", arguments: null } }],
        [part('{"command":"ls"}', { index: 0 })],
        [start("b", "R", "", { index: 1 })],
        [{ index: 1, function: { name: "ead" } }],
        [part('{"path":"x"}', { index: 1 })],
      ],
    ],
    [
      "with an id that is made up for each fragment",
      [
        [start("a", "Bash", "", { index: 0 })],
        [part('{"command":"ls"}', { index: 0, id: "r1" })],
        [start("b", "Read", "", { index: 1 })],
        [part('{"path":"x"}', { index: 1, id: "r2" })],
      ],
    ],
    [
      "with an id that comes late",
      [
        [start(undefined, "Bash", "", { index: 0 })],
        [part("", { index: 0, id: "a" })],
        [part('{"command":"ls"}', { index: 0 })],
        [start("b", "Read", '{"path":"x"}', { index: 1 })],
      ],
    ],
    [
      "without `function` around name and arguments",
      [
        [
          { index: 0, id: "a", name: "Bash", arguments: '{"command":"ls"}' } as CallFragment,
          { index: 1, id: "b", name: "Read", arguments: '{"path":"x"}' } as CallFragment,
        ],
      ],
    ],
  ])("%s", async (_, chunks) => {
    expect(await assembled(...chunks)).toEqual({ calls: TWO, notices: [] });
  });

  it.each<[string, CallFragment[][]]>([
    [
      "whole, in one chunk",
      [[start(undefined, "Bash", '{"command":"ls"}'), start(undefined, "Read", '{"path":"x"}')]],
    ],
    [
      "of the same tool, with the name in every fragment",
      [
        [start(undefined, "Bash", '{"command"', { index: 0 })],
        [start(undefined, "Bash", ':"ls"}', { index: 0 })],
        [start(undefined, "Bash", '{"command":"pwd"}', { index: 0 })],
      ],
    ],
  ])("without ids, %s: each gets one of its own", async (_, chunks) => {
    const { calls } = await assembled(...chunks);
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{32}$/);
  });
});

describe("one call", () => {
  it("TC-02: two entries of the first chunk, and more later", async () => {
    const { calls } = await assembled(
      [start("a", "Bash", "", { index: 0 }), part('{"comm', { index: 0 })],
      [part('and":"l', { index: 0 })],
      [part('s"}', { index: 0 })],
    );
    expect(calls).toEqual([TWO[0]]);
  });

  it.each([
    ["no argument text", ""],
    ["null", null],
    ["an empty object", {}],
    ["an empty object as text", "{}"],
    ["white space", "  "],
  ])("TC-03: with %s has none", async (_, args) => {
    const { calls } = await assembled([start("a", "Read", args, { index: 0 })]);
    expect(calls).toEqual([{ id: "a", name: "Read", input: {} }]);
  });

  it("that calls without arguments stand around keeps its place", async () => {
    const { calls } = await assembled(
      [
        start("a", "Read", "", { index: 0 }),
        start("b", "Bash", "", { index: 1 }),
        start("c", "Read", "", { index: 2 }),
      ],
      [part('{"command":"ls"}', { index: 1 })],
    );
    expect(calls.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  it("of the old functions API", async () => {
    const stream = chatAnswer()
      .delta({ function_call: { name: "Bash", arguments: "" } })
      .delta({ function_call: { arguments: '{"command":"ls"}' } })
      .done({ finishReason: "function_call" });
    expect((await ask(stream)).done).toMatchObject({
      stopReason: "tool_use",
      content: [{ name: "Bash", input: ls }],
    });
  });

  it("TC-04: whose arguments are no JSON is marked, and the turn is kept", async () => {
    const { done, error } = await ask(chatAnswer().toolCall("Grep", '{"pattern":"\\d"}').done());
    expect(error).toBeUndefined();
    expect(done?.content).toMatchObject([{ input: {}, invalid_json: '{"pattern":"\\d"}' }]);
  });

  it("whose id the session has seen gets another", async () => {
    const used = { type: "tool_use", id: "call_0", name: "Bash", input: {} } as const;
    const messages = [{ role: "assistant" as const, content: [used] }];
    const { done } = await ask(chatAnswer().toolCall("Bash", {}, "call_0").done(), {}, { messages });
    expect(done?.content).toMatchObject([{ name: "Bash", id: expect.stringMatching(/^call_[0-9a-f]{32}$/) }]);
  });
});

it("any calls, cut and spelled in any way that can be told apart, are those that the model wrote", async () => {
  const input = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
  const spelling = fc.record({
    index: fc.constantFrom("own", "shared", "none"),
    repeatId: fc.boolean(),
    repeatName: fc.boolean(),
    size: fc.integer({ min: 1, max: 40 }),
  });
  const call = fc.record({ name: fc.constantFrom("Bash", "Read"), input });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), spelling, async (written, how) => {
      const answer = chatAnswer();
      for (const [place, { name, input }] of written.entries()) {
        const json = JSON.stringify(input);
        const index = how.index === "none" ? {} : { index: how.index === "own" ? place : 0 };
        for (let at = 0; at < json.length; at += how.size) {
          const first = at === 0;
          answer.calls({
            ...index,
            ...(first || how.repeatId ? { id: `call_${place}` } : {}),
            function: {
              ...(first || how.repeatName ? { name } : {}),
              arguments: json.slice(at, at + how.size),
            },
          });
        }
      }
      const { done } = await ask(answer.done());
      expect(
        done?.content.map((block) => (block.type === "tool_use" ? [block.id, block.name, block.input] : [])),
      ).toEqual(
        written.map(({ name, input }, place) => [`call_${place}`, name, JSON.parse(JSON.stringify(input))]),
      );
    }),
    { numRuns: 60 },
  );
});
