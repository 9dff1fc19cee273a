import fc from "fast-check";
import { expect, it } from "vitest";
import { History } from "../../src/agent/history.ts";
import { Transcript } from "../../src/consume/index.ts";
import type { Script, ScriptBlock } from "../../src/model/scripted/script.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import { arriving, cutAt } from "../support/cut.ts";
import { goldenRun, type FakeCall } from "../support/golden-run.ts";

// What the real loop says and the real emitter writes, read back: nothing may be lost, doubled or changed on the way.

const words = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "\n", "\u2028", "🙂", "≤", "\ud83d", '"', "\\"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
  ),
  minLength: 1,
  maxLength: 60,
});

const call: fc.Arbitrary<ScriptBlock> = fc.oneof(
  fc
    .record({ command: fc.constantFrom("ls", "make") })
    .map((input) => ({ type: "tool_use" as const, name: "Bash", input })),
  fc
    .dictionary(words, fc.jsonValue(), { maxKeys: 3 })
    .map((input) => ({ type: "tool_use" as const, name: "Bash", input: { ...input, command: "ls" } })),
  fc.constant({ type: "tool_use" as const, name: "Bash", input_json: '{"command": "l' }),
  fc.constant({
    type: "tool_use" as const,
    name: "Nothing",
    input_json: '{"__proto__": {"a": "\\ud83d"}, "\\u2028": 1e2}',
  }),
);
const block: fc.Arbitrary<ScriptBlock> = fc.oneof(
  words.map((text) => ({ type: "text" as const, text })),
  words.map((thinking) => ({ type: "thinking" as const, thinking })),
  call,
);
const content = fc.array(block, { maxLength: 4 });
const fault = fc.record({
  code: fc.constantFrom("overloaded" as const, "network" as const),
  retryable: fc.boolean(),
  after_characters: fc.nat(80),
});
const answer = fc.oneof(
  { weight: 3, arbitrary: fc.record({ content }) },
  { weight: 1, arbitrary: fc.record({ content, fault }) },
);
const answers: fc.Arbitrary<Script["answers"]> = fc
  .tuple(fc.array(answer, { maxLength: 5 }), words)
  .map(([asked, last]) => [...asked, { content: [{ type: "text", text: last }] }]);

/** Prints the same on both streams, in pieces that are cut anywhere. */
const printing = (text: string): FakeCall =>
  async function* (_context, clock) {
    for (const [index, piece] of Array.from(text).entries()) {
      clock.advance(7);
      yield { stream: index % 5 === 0 ? "stderr" : "stdout", text: piece };
    }
    return { content: text, exitCode: 0 };
  };

it("DM-02, DM-03: a run that is read back is the run", async () => {
  const options = fc.record({
    answers,
    output: words,
    coalesceMs: fc.constantFrom(0, 1, 20, 50, 1000),
    includeToolInput: fc.boolean(),
    maxRetries: fc.nat(3),
    allow: fc.constantFrom("Bash", "Bash(ls)", ""),
    places: fc.array(fc.nat(), { maxLength: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(options, async ({ output, places, ...run }) => {
      const bodies: EventBody[] = [];
      const history = new History();
      const lines = await goldenRun({
        ...run,
        prompt: "go",
        calls: { ls: printing(output), make: printing("made") },
        after: (body) => {
          bodies.push(body);
          history.apply(body);
        },
      });
      const chunks = cutAt(Buffer.from(lines), places);
      const transcript = await Transcript.from(arriving(chunks), { onInvalid: "throw" });

      const last = JSON.parse(lines.trimEnd().split("\n").at(-1) ?? "") as NonNullable<Transcript["result"]>;
      expect(transcript.faults).toEqual([]);
      expect(transcript.result).toEqual(last);
      expect(transcript.status).toBe(last.status);
      expect(transcript.usage).toEqual(last.usage);
      expect(transcript.usageByModel).toEqual(last.usage_by_model);
      if (last.text !== null) expect(transcript.text).toBe(last.text);
      expect(transcript.history).toEqual(asWritten(history.messages));
      expect(transcript.calls.map(({ id, status }) => [id, status])).toEqual(endsOf(bodies));
      for (const { status, outputText } of transcript.calls) {
        if (status === "ok") expect([output.toWellFormed(), "made"]).toContain(outputText);
      }
    }),
    { numRuns: 150 },
  );
});

/** As it is after it was written and read: no half surrogate pairs, no keys without value. */
function asWritten(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value).replaceAll(/\\\\|\\ud[89a-f]../g, (escape) =>
      escape === "\\\\" ? escape : "\ufffd",
    ),
  );
}

function endsOf(bodies: readonly EventBody[]): [string, string][] {
  return bodies.flatMap((body): [string, string][] =>
    body.type === "tool_end" ? [[body.tool_use_id, body.status]] : [],
  );
}
