import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Transcript, type LinefeedEvent, type StreamItem } from "../../../src/consume/index.ts";
import { streamJsonFormat } from "../../../src/emit/formats/stream-json.ts";
import { faultsOf, itemsOf, linesOf } from "../../support/dialects.ts";

// What we print for clients of Claude Code is read like what Claude Code prints.

const STREAMS = readdirSync("examples/streams").filter((file) => file.endsWith(".jsonl"));

function transcriptOf(items: readonly StreamItem[]): Transcript {
  const transcript = new Transcript();
  for (const item of items) transcript.apply(item);
  return transcript;
}

const essence = (transcript: Transcript) => ({
  turns: transcript.turns.map((turn) => ({
    text: turn.text,
    said: turn.steps.map((step) => step.text).filter((text) => text !== ""),
    calls: turn.calls.map(({ id, name, input, end }) => ({ id, name, input, isError: end?.is_error })),
  })),
  usage: transcript.usage,
});

it.each(STREAMS.flatMap((file) => [true, false].map((partials) => ({ file, partials }))))(
  "$file as stream-json, partial messages: $partials",
  async ({ file, partials }) => {
    const ours = await itemsOf([readFileSync(`examples/streams/${file}`, "utf8")]);
    const format = streamJsonFormat({ settings: {}, partials });
    const events = ours.filter(
      (item): item is LinefeedEvent => item.type !== "invalid" && item.type !== "unknown",
    );
    const theirs = await itemsOf([events.map((event) => format.event(event) ?? "").join("")]);
    expect(theirs[0]).toMatchObject({ type: "init", dialect: "claude" });
    expect(faultsOf(linesOf(theirs))).toEqual([]);
    expect(essence(transcriptOf(theirs))).toEqual(essence(transcriptOf(ours)));
  },
);
