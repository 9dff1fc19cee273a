import { describe, expect, expectTypeOf, it } from "vitest";
import {
  readEvents,
  Transcript,
  type EventOf,
  type EventType,
  type InvalidLine,
  type LinefeedEvent,
  type StreamEvent,
  type StreamItem,
  type UnknownEvent,
} from "../../src/consume/index.ts";
import { EVENT_TYPES } from "../../src/protocol/index.ts";

// The compiler is the test here: `npm run types` checks this file too.

/** A switch as a user writes it: it compiles only if it names every kind of item. */
function kindOf(item: StreamItem): string {
  switch (item.type) {
    case "init":
      return (expectTypeOf(item).toEqualTypeOf<EventOf<"init">>(), "run");
    case "text_delta":
    case "thinking_delta":
      return item.text;
    case "tool_input_delta":
      return item.partial_json;
    case "message":
      return (expectTypeOf(item.role).toEqualTypeOf<"assistant">(), "message");
    case "turn_start":
    case "step_start":
    case "tool_start":
    case "tool_output_delta":
    case "tool_end":
    case "retry":
    case "notice":
    case "heartbeat":
    case "step_end":
    case "turn_end":
    case "session":
      return (expectTypeOf(item.seq).toEqualTypeOf<number>(), "other");
    case "result":
      return (expectTypeOf(item.exit_code).toEqualTypeOf<number>(), item.status);
    case "unknown":
      return (expectTypeOf(item).toEqualTypeOf<UnknownEvent>(), item.name);
    case "invalid":
      return (expectTypeOf(item).toEqualTypeOf<InvalidLine>(), item.reason);
    default:
      return item satisfies never;
  }
}

describe("the types of the consumer module", () => {
  it("an item is an event, an unknown one, or an invalid line", () => {
    expectTypeOf<StreamItem["type"]>().toEqualTypeOf<EventType | "unknown" | "invalid">();
    expectTypeOf<StreamEvent>().toEqualTypeOf<LinefeedEvent | UnknownEvent>();
    expectTypeOf(EVENT_TYPES).items.toEqualTypeOf<LinefeedEvent["type"]>();
    expect(kindOf({ type: "unknown", name: "later", seq: 0, ts: "", session_id: null, raw: {} })).toBe(
      "later",
    );
  });

  it("what a reader yields depends on what becomes of invalid lines", () => {
    const source = (async function* (): AsyncGenerator<Uint8Array | string> {})();
    expectTypeOf(readEvents(source)).toEqualTypeOf<AsyncGenerator<StreamItem, void, undefined>>();
    expectTypeOf(readEvents(source, { onInvalid: "yield" })).toEqualTypeOf<
      AsyncGenerator<StreamItem, void, undefined>
    >();
    expectTypeOf(readEvents(source, { onInvalid: "throw" })).toEqualTypeOf<
      AsyncGenerator<StreamEvent, void, undefined>
    >();
    expectTypeOf(readEvents("file", { onInvalid: "skip", validate: "none" })).toEqualTypeOf<
      AsyncGenerator<StreamEvent, void, undefined>
    >();
    // @ts-expect-error: no such word
    expect(() => readEvents(source, { onInvalid: "ignore" })).toThrow("onInvalid");
    // @ts-expect-error: an object is no source
    expect(() => readEvents({})).toThrow("source");
  });

  it("a transcript takes what a reader yields", () => {
    expectTypeOf<Parameters<Transcript["apply"]>[0]>().toEqualTypeOf<StreamItem>();
    expectTypeOf(Transcript.from).returns.toEqualTypeOf<Promise<Transcript>>();
  });
});
