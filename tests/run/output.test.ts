import { describe, expect, it } from "vitest";
import type { Format } from "../../src/emit/formats/format.ts";
import { SinkError, type Sink } from "../../src/emit/sink.ts";
import { createStamp } from "../../src/emit/stamp.ts";
import { Window } from "../../src/emit/window.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import { ActiveClock } from "../../src/run/active-clock.ts";
import { Output } from "../../src/run/output.ts";

const notice = (message: string): EventBody => ({
  type: "notice",
  level: "info",
  code: "stdin_ignored",
  message,
});

function setUp(write: (text: string) => Promise<void> | undefined) {
  const failures: SinkError[] = [];
  const window = new Window(50, { now: () => performance.now(), setTimeout, clearTimeout });
  const sink: Sink = { write, taken: 0, onReaderClosed: () => undefined, giveUp: () => undefined };
  const format: Format = {
    event: (event) => (event.type === "notice" ? event.message : ""),
    tick: { intervalMs: 1, text: () => "." },
  };
  const output = new Output({
    window,
    stamp: createStamp({ sessionId: "s", firstSeq: 1, date: () => new Date() }),
    format,
    sink,
    clock: new ActiveClock(),
    onFailure: (error) => failures.push(error),
  });
  return { window, output, failures };
}

const ticks = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 5));

describe("ticks", () => {
  it("are printed while nothing else is, and not after the end", async () => {
    let text = "";
    const { window, output } = setUp((more) => {
      text += more;
      return undefined;
    });
    const drained = output.drain();
    while (text.length < 3) await ticks(1);
    window.push(notice("one"));
    window.end();
    await drained;
    const atEnd = text;
    await ticks(5);
    expect(text).toMatch(/^\.{3,}one$/);
    expect(text).toBe(atEnd);
  });

  it("are not put before a reader who is blocked, and no event overtakes one", async () => {
    const written: string[] = [];
    const waiting: (() => void)[] = [];
    const { window, output } = setUp((text) => {
      written.push(text);
      return new Promise((resolve) => waiting.push(resolve));
    });
    const drained = output.drain();
    while (written.length === 0) await ticks(1);
    await ticks(5);
    expect(written).toEqual(["."]);
    window.push(notice("one"));
    await ticks(5);
    expect(written).toEqual(["."]);
    waiting.shift()?.();
    await ticks(5);
    expect(written).toEqual([".", "one"]);
    window.end();
    waiting.shift()?.();
    await drained;
  });

  it.each(["thrown", "rejected"])("a failure that is %s ends the output once", async (how) => {
    const error = new SinkError("io", "EIO");
    const { window, output, failures } = setUp(() => {
      if (how === "thrown") throw error;
      return Promise.reject(error);
    });
    const drained = output.drain();
    while (failures.length === 0) await ticks(1);
    window.push(notice("one"));
    window.end();
    await drained;
    expect(failures).toEqual([error]);
  });
});
