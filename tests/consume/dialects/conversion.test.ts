import { describe, expect, it } from "vitest";
import { Transcript, type StreamItem } from "../../../src/consume/index.ts";
import { FIXTURES, faultsOf, fixture, itemsOf, linesOf } from "../../support/dialects.ts";

const HELLO =
  "Hello from the fake model. This is one short answer sent in twenty small text deltas for the bench.";

function transcriptOf(items: readonly StreamItem[]): Transcript {
  const transcript = new Transcript();
  for (const item of items) transcript.apply(item);
  transcript.end();
  return transcript;
}

describe.each(FIXTURES)("$name", ({ name, agent, text }) => {
  it("becomes what it became before, and keeps our rules", async () => {
    const lines = linesOf(await itemsOf([text]));
    expect(faultsOf(lines)).toEqual([]);
    await expect(lines).toMatchFileSnapshot(`../../golden/dialects/${name}.jsonl`);
  });

  it("is the same when its dialect is named, and when it is read once more as ours", async () => {
    const items = await itemsOf([text]);
    expect(await itemsOf([text], agent)).toEqual(items);
    const lines = linesOf(items);
    expect(linesOf(await itemsOf([lines]))).toBe(lines);
  });
});

describe.each(["claude", "codex", "gemini", "qwen", "opencode", "pi"])("what %s said", (agent) => {
  it("in a short answer", async () => {
    const transcript = transcriptOf(await itemsOf([fixture(`${agent}-hello`)]));
    expect(transcript.faults).toEqual([]);
    expect(transcript).toMatchObject({ text: HELLO, status: "ok", calls: [] });
    expect(transcript.result).toMatchObject({
      text: HELLO,
      exit_code: 0,
      turns: 1,
      steps: 1,
      synthetic: false,
    });
    expect(transcript.usage).toMatchObject({ input_tokens: 120 });
  });

  it("in a run with tools", async () => {
    const transcript = transcriptOf(await itemsOf([fixture(`${agent}-tools`)]));
    expect(transcript.faults).toEqual([]);
    expect(transcript).toMatchObject({ text: "All steps are done.", status: "ok" });
    expect(transcript.calls.map(({ status, summary }) => `${status} ${summary}`)).toEqual([
      expect.stringMatching(/^ok .*echo hi/),
      expect.stringMatching(/^ok .*echo hi/),
    ]);
    expect(transcript.result).toMatchObject({ text: "All steps are done.", steps: 3 });
    const said = transcript.turns[0]?.steps.map((step) => step.text);
    expect(said).toEqual(["Step 1: running a tool.", "Step 2: running a tool.", "All steps are done."]);
    expect(transcript.usage).toMatchObject({ input_tokens: 360 });
  });
});
