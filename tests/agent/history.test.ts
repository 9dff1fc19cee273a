import { describe, expect, it } from "vitest";
import { History } from "../../src/agent/history.ts";
import { AgentError, toErrorInfo, type ErrorCode } from "../../src/protocol/errors.ts";
import type { EventBody } from "../../src/protocol/event.ts";

const prompt = (text: string): EventBody => ({ type: "turn_start", turn: 1, prompt: text });
const turnEnd = (code?: ErrorCode): EventBody => ({
  type: "turn_end",
  turn: 1,
  status: code ? "error" : "ok",
  stop_reason: null,
  steps: 1,
  usage: null,
  duration_ms: 0,
  error: code ? toErrorInfo(new AgentError(code, "no")) : null,
});
const message = (text: string): EventBody => ({
  type: "message",
  turn: 1,
  step: 1,
  id: "m",
  role: "assistant",
  model: "test",
  content: [{ type: "text", text }],
  stop_reason: "end_turn",
  usage: null,
  request_id: null,
});

function texts(bodies: EventBody[]): string[] {
  const history = new History();
  for (const body of bodies) history.apply(body);
  return history.messages
    .map(({ content }) => JSON.stringify(content))
    .map((json) => json.replaceAll(/.*"text":"|".*/g, ""));
}

describe("what later requests hold", () => {
  it.each(["invalid_request", "context_overflow", "refusal"] as const)(
    "no prompt that ended in %s",
    (code) => {
      expect(texts([prompt("a"), message("b"), turnEnd(), prompt("c"), turnEnd(code), prompt("d")])).toEqual([
        "a",
        "b",
        "d",
      ]);
    },
  );

  it("a prompt of which a part was answered, whatever came then", () => {
    expect(texts([prompt("a"), message("b"), turnEnd("context_overflow"), prompt("c")])).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it.each(["network", "server_error", "cancelled"] as const)(
    "a prompt that was not answered for %s",
    (code) => {
      expect(texts([prompt("a"), turnEnd(code), prompt("b")])).toEqual(["a", "b"]);
    },
  );

  it("nothing of what could not be read", () => {
    const unread: EventBody = { type: "turn_start", turn: 1, prompt: [] };
    expect(texts([prompt("a"), turnEnd("network"), unread, turnEnd("invalid_request"), prompt("b")])).toEqual(
      ["a", "b"],
    );
  });
});
