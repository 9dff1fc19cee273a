import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LINE_UNITS } from "../../src/emit/merge.ts";
import {
  QUEUE_UNITS,
  UNMERGED_UNITS,
  Window,
  type Printed,
  type WindowClock,
} from "../../src/emit/window.ts";
import type { EventBody } from "../../src/protocol/event.ts";

const text = (piece: string, block = 0): EventBody => ({ type: "text_delta", step: 1, block, text: piece });
const output = (piece: string): EventBody => ({
  type: "tool_output_delta",
  tool_use_id: "a",
  stream: "stdout",
  text: piece,
});
const notice: EventBody = { type: "notice", level: "info", code: "stdin_ignored", message: "" };
const never = new AbortController().signal;

/** A clock that only moves when told. */
class TestClock implements WindowClock {
  #now = 0;
  #timers = new Map<NodeJS.Timeout, { at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }
  setTimeout(callback: () => void, ms: number): NodeJS.Timeout {
    const timer = setTimeout(() => undefined, 0);
    this.#timers.set(timer, { at: this.#now + ms, callback });
    return timer;
  }
  clearTimeout(timer: NodeJS.Timeout): void {
    this.#timers.delete(timer);
  }
  get armed(): number {
    return this.#timers.size;
  }
  async advance(ms: number): Promise<void> {
    await settle();
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].filter(([, t]) => t.at <= end).toSorted((a, b) => a[1].at - b[1].at)[0];
      if (!next) break;
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1].at);
      next[1].callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Takes all that is due, with the time at which it came. */
function taker(window: Window, clock: WindowClock) {
  const taken: { at: number; body: Printed }[] = [];
  const done = (async () => {
    for (let bodies = await window.take(); bodies; bodies = await window.take()) {
      for (const body of bodies) taken.push({ at: clock.now(), body });
    }
  })();
  return { taken, done };
}

describe("the window", () => {
  it("DM-04: a block's first delta leaves at once, also with a long window", async () => {
    const clock = new TestClock();
    const window = new Window(1000, clock);
    const { taken } = taker(window, clock);
    await clock.advance(3000);
    window.push(text("a"));
    await settle();
    expect(taken).toEqual([{ at: 3000, body: text("a") }]);
  });

  it("DM-02: what is pending is out within one window, without a further event", async () => {
    const clock = new TestClock();
    const window = new Window(50, clock);
    const { taken } = taker(window, clock);
    window.push(text("a"));
    await clock.advance(5);
    window.push(text("b"));
    await clock.advance(10_000);
    expect(taken.map((item) => item.at)).toEqual([0, 55]);
  });

  it("counts the window from the first pending delta, not from the last", async () => {
    const clock = new TestClock();
    const window = new Window(50, clock);
    const { taken } = taker(window, clock);
    window.push(text("0"));
    await settle();
    for (let n = 1; n <= 20; n += 1) {
      await clock.advance(10);
      window.push(text(String(n % 10)));
    }
    await clock.advance(100);
    expect(taken.map((item) => item.at)).toEqual([0, 60, 110, 160, 210]);
    expect(taken.map((item) => ("text" in item.body ? item.body.text : "")).join("")).toBe(
      "012345678901234567890",
    );
  });

  it("DM-03: an event that is no delta takes the pending text with it, in order", async () => {
    const clock = new TestClock();
    const window = new Window(50, clock);
    const { taken } = taker(window, clock);
    window.push(text("a"));
    await settle();
    window.push(text("b"));
    window.push(notice);
    await settle();
    expect(taken.map((item) => item.body)).toEqual([text("a"), text("b"), notice]);
  });

  it("keeps every delta a line of its own with a window of 0", async () => {
    const clock = new TestClock();
    const window = new Window(0, clock);
    for (const piece of ["a", "b", "c"]) window.push(text(piece));
    expect(await window.take()).toEqual([text("a"), text("b"), text("c")]);
  });

  it("goes on merging while the taker is away: a slow reader costs lines, never text", async () => {
    const clock = new TestClock();
    const window = new Window(50, clock);
    window.push(text("first"));
    expect(await window.take()).toEqual([text("first")]);
    for (let n = 0; n < 100_000; n += 1) window.push(text("1234"));
    await clock.advance(1000);
    const taken = await window.take();
    expect(taken?.length).toBeLessThanOrEqual(400_000 / LINE_UNITS + 1);
    expect(taken?.map((body) => (body.type === "text_delta" ? body.text : "")).join("")).toBe(
      "1234".repeat(100_000),
    );
  });

  it("never forgets a delta that came while other events were waiting to be taken", async () => {
    const clock = new TestClock();
    const window = new Window(50, clock);
    window.push(text("a"));
    await window.take();
    window.push(notice);
    window.push(text("b"));
    const { taken } = taker(window, clock);
    await clock.advance(50);
    expect(taken.map((item) => item.body)).toEqual([notice, text("b")]);
  });

  it("counts the arguments of calls as waiting, too", () => {
    const window = new Window(50, new TestClock());
    const block = {
      type: "tool_use",
      id: "a",
      name: "Bash",
      input: { command: "x".repeat(QUEUE_UNITS) },
    } as const;
    window.push({
      type: "message",
      turn: 1,
      step: 1,
      id: "m",
      role: "assistant",
      model: "x",
      content: [block],
      stop_reason: "tool_use",
      usage: null,
      request_id: null,
    });
    expect(window.isFull).toBe(true);
  });

  it("bounds what waits even with a window of 0", async () => {
    const clock = new TestClock();
    const window = new Window(0, clock);
    for (let n = 0; n < 200_000; n += 1) window.push(text("1234"));
    const taken = (await window.take()) ?? [];
    expect(taken.length).toBeLessThan(UNMERGED_UNITS / 200);
    expect(taken.map((body) => ("text" in body ? body.text : "")).join("")).toBe("1234".repeat(200_000));
  });

  it("lets whoever can wait wait until the reader has taken, or until the run is cancelled", async () => {
    const window = new Window(50, new TestClock());
    window.push(output("x".repeat(QUEUE_UNITS)));
    let free = false;
    const waiting = window.room(never).then(() => {
      free = true;
    });
    await settle();
    expect(free).toBe(false);
    await window.take();
    await waiting;
    window.push(output("x".repeat(QUEUE_UNITS)));
    const controller = new AbortController();
    const cancelled = window.room(controller.signal);
    controller.abort();
    await cancelled;
  });

  it("ends with everything handed on, and leaves no timer", async () => {
    const clock = new TestClock();
    const window = new Window(50, clock);
    const { taken, done } = taker(window, clock);
    window.push(text("a"));
    await settle();
    window.push(text("b"));
    window.end();
    await done;
    expect(taken.map((item) => item.body)).toEqual([text("a"), text("b")]);
    expect(clock.armed).toBe(0);
  });

  it("never keeps text longer than the window, whatever the pace of model and reader", async () => {
    const steps = fc.array(
      fc.record({ wait: fc.integer({ min: 0, max: 80 }), block: fc.integer({ min: 0, max: 1 }) }),
      { minLength: 1, maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(0, 1, 20, 50), async (pushes, coalesceMs) => {
        const clock = new TestClock();
        const window = new Window(coalesceMs, clock);
        const { taken, done } = taker(window, clock);
        const pushed: { at: number; piece: string }[] = [];
        for (const [n, { wait, block }] of pushes.entries()) {
          await clock.advance(wait);
          const piece = `<${n}>`;
          pushed.push({ at: clock.now(), piece });
          window.push(text(piece, block));
        }
        await clock.advance(coalesceMs);
        window.end();
        await done;
        for (const { at, piece } of pushed) {
          const out = taken.find(({ body }) => body.type === "text_delta" && body.text.includes(piece));
          expect(out?.at).toBeLessThanOrEqual(at + coalesceMs);
        }
      }),
      { numRuns: 50 },
    );
  });
});
