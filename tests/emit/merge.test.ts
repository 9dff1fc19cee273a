import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FULL_UNITS, isDelta, Merge } from "../../src/emit/merge.ts";
import type { EventBody } from "../../src/protocol/event.ts";

const text = (step: number, block: number, piece: string): EventBody => ({
  type: "text_delta",
  step,
  block,
  text: piece,
});
const thinking = (step: number, block: number, piece: string): EventBody => ({
  type: "thinking_delta",
  step,
  block,
  text: piece,
});
const output = (id: string, stream: "stdout" | "stderr", piece: string): EventBody => ({
  type: "tool_output_delta",
  tool_use_id: id,
  stream,
  text: piece,
});
const notice: EventBody = { type: "notice", level: "info", code: "stdin_ignored", message: "" };
const end = (step: number): EventBody => ({
  type: "step_end",
  turn: 1,
  step,
  status: "ok",
  stop_reason: null,
  ttft_ms: null,
  duration_ms: 0,
});
const toolEnd = (id: string): EventBody => ({
  type: "tool_end",
  step: 1,
  tool_use_id: id,
  name: "Bash",
  status: "ok",
  is_error: false,
  content: "",
  duration_ms: 0,
  exit_code: 0,
  truncated: false,
});

function mergeAll(bodies: EventBody[]): EventBody[] {
  const merge = new Merge();
  return [...bodies.flatMap((body) => merge.add(body)), ...merge.flush()];
}

describe("merging", () => {
  it("joins neighbours of one block", () => {
    expect(mergeAll([text(1, 0, "a"), text(1, 0, "b"), text(1, 0, "c")])).toEqual([text(1, 0, "abc")]);
  });

  it("DM-01: an event that is no delta is a barrier", () => {
    expect(mergeAll([text(1, 0, "a"), notice, text(1, 0, "b")])).toEqual([
      text(1, 0, "a"),
      notice,
      text(1, 0, "b"),
    ]);
  });

  it("DM-07: two blocks in a row stay apart", () => {
    const bodies = [text(1, 0, "a"), text(1, 0, "b"), text(1, 1, "c"), thinking(1, 2, "d"), text(2, 0, "e")];
    expect(mergeAll(bodies)).toEqual([
      text(1, 0, "ab"),
      text(1, 1, "c"),
      thinking(1, 2, "d"),
      text(2, 0, "e"),
    ]);
  });

  it("keeps one pending delta for each running call and none of them pushes another out", () => {
    const merge = new Merge();
    const ready = [
      output("a", "stdout", "1"),
      output("b", "stdout", "2"),
      output("a", "stdout", "3"),
    ].flatMap((body) => merge.add(body));
    expect(ready).toEqual([]);
    expect(merge.flush()).toEqual([output("a", "stdout", "13"), output("b", "stdout", "2")]);
  });

  it("keeps the order of a call's two streams", () => {
    const bodies = [output("a", "stdout", "1"), output("a", "stderr", "2"), output("a", "stdout", "3")];
    expect(mergeAll(bodies)).toEqual(bodies);
  });

  it("hands on the oldest first", () => {
    const merge = new Merge();
    merge.add(output("a", "stdout", "1"));
    merge.flush();
    merge.add(output("b", "stdout", "2"));
    merge.add(output("a", "stdout", "3"));
    expect(merge.flush()).toEqual([output("b", "stdout", "2"), output("a", "stdout", "3")]);
  });

  it("calls a block's first delta urgent, later ones not, a full one again", () => {
    const merge = new Merge();
    merge.add(text(1, 0, "a"));
    expect(merge.urgent).toBe(true);
    merge.flush();
    merge.add(text(1, 0, "b"));
    expect(merge.urgent).toBe(false);
    merge.add(text(1, 0, "x".repeat(FULL_UNITS)));
    expect(merge.urgent).toBe(true);
  });

  it("never cuts a surrogate pair: the high half waits for its low half", () => {
    const merge = new Merge();
    merge.add(text(1, 0, "a\ud83d"));
    expect(merge.flush()).toEqual([text(1, 0, "a")]);
    expect(merge.add(notice)).toEqual([notice]);
    merge.add(text(1, 0, "\ude00b"));
    expect(merge.flush()).toEqual([text(1, 0, "😀b")]);
  });

  it("turns half a pair at the end of its block into U+FFFD", () => {
    expect(mergeAll([text(1, 0, "a\ud83d"), end(1)])).toEqual([
      text(1, 0, "a"),
      text(1, 0, "\uFFFD"),
      end(1),
    ]);
    expect(mergeAll([text(1, 0, "a\ud83d"), text(1, 1, "b")])).toEqual([
      text(1, 0, "a\uFFFD"),
      text(1, 1, "b"),
    ]);
    expect(mergeAll([output("a", "stdout", "\ud83d"), toolEnd("a")])).toEqual([
      output("a", "stdout", "\uFFFD"),
      toolEnd("a"),
    ]);
  });

  it("loses, doubles and reorders nothing, whatever comes and whenever it is flushed", () => {
    const unit = fc.constantFrom("a", "b", "é", "\ud83d", "\ude00", "😀");
    const piece = fc.array(unit, { minLength: 1, maxLength: 4 }).map((units) => units.join(""));
    const body = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(fc.integer({ min: 0, max: 1 }), piece).map(([block, p]) => text(1, block, p)),
      },
      {
        weight: 3,
        arbitrary: fc.tuple(fc.constantFrom("a", "b"), piece).map(([id, p]) => output(id, "stdout", p)),
      },
      { weight: 1, arbitrary: fc.constant(notice) },
    );
    const action = fc.oneof(
      { weight: 4, arbitrary: body },
      { weight: 1, arbitrary: fc.constant("flush" as const) },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const merge = new Merge();
        const bodies: EventBody[] = [];
        const merged: EventBody[] = [];
        for (const item of actions) {
          if (item === "flush") merged.push(...merge.flush());
          else {
            bodies.push(item);
            merged.push(...merge.add(item));
          }
        }
        for (const last of [toolEnd("a"), toolEnd("b"), end(1)]) {
          bodies.push(last);
          merged.push(...merge.add(last));
        }
        expect(runs(merged)).toEqual(runs(bodies));
        expect(merged.filter((item) => !isDelta(item))).toEqual(bodies.filter((item) => !isDelta(item)));
        expect(merged.length).toBeLessThanOrEqual(bodies.length + 3);
        for (const item of merged) if (isDelta(item) && "text" in item) expect(item.text).not.toBe("");
      }),
    );
  });
});

/** The text of each unbroken stay in one block, by who speaks: what a reader sees in order. */
function runs(bodies: EventBody[]): Record<string, string> {
  const seen: Record<string, string> = {};
  let stay = 0;
  let last = "";
  for (const body of bodies) {
    if (body.type === "text_delta") {
      if (String(body.block) !== last) stay += 1;
      last = String(body.block);
      seen[`text ${stay} ${body.block}`] = (seen[`text ${stay} ${body.block}`] ?? "") + body.text;
    } else if (body.type === "tool_output_delta") {
      seen[body.tool_use_id] = (seen[body.tool_use_id] ?? "") + body.text;
    }
  }
  return Object.fromEntries(
    Object.entries(seen)
      .map(([key, value]) => [key, value.toWellFormed()] as const)
      .filter(([, value]) => value !== ""),
  );
}
