import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readEvents } from "../../src/consume/index.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import { eventLines } from "../../src/testing/index.ts";

const BODIES: EventBody[] = [
  { type: "heartbeat", turn: 1, step: 1, waiting_for: "model", elapsed_ms: 15_000 },
  { type: "notice", level: "info", code: "stdin_ignored", message: "a\u2028b" },
];

describe("eventLines", () => {
  it("are the lines that linefeed would print", () => {
    expect(eventLines(BODIES)).toBe(
      '{"type":"heartbeat","seq":1,"ts":"2026-01-01T00:00:00.000Z","session_id":"00000000-0000-7000-8000-000000000000","turn":1,"step":1,"waiting_for":"model","elapsed_ms":15000}\n' +
        '{"type":"notice","seq":2,"ts":"2026-01-01T00:00:00.001Z","session_id":"00000000-0000-7000-8000-000000000000","level":"info","code":"stdin_ignored","message":"a\\u2028b"}\n',
    );
  });

  it("are read back as the same events", async () => {
    const lines = eventLines(BODIES, { sessionId: "s", firstSeq: 7, begin: new Date(5) });
    const events = [];
    for await (const event of readEvents(Readable.from([lines]))) events.push(event);
    expect(events).toEqual([
      { seq: 7, ts: "1970-01-01T00:00:00.005Z", session_id: "s", ...BODIES[0] },
      { seq: 8, ts: "1970-01-01T00:00:00.006Z", session_id: "s", ...BODIES[1] },
    ]);
  });
});
