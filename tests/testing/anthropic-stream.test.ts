import { describe, expect, it } from "vitest";
import { answer, sseEvent } from "../../src/testing/index.ts";

function events(stream: string): Record<string, unknown>[] {
  return stream
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [event, data] = frame.split("\n");
      const parsed: Record<string, unknown> = JSON.parse(String(data).slice("data: ".length));
      expect(event).toBe(`event: ${String(parsed["type"])}`);
      return parsed;
    });
}

describe("answer()", () => {
  it("builds the events of Anthropic's stream", () => {
    const stream = answer({ id: "msg_a", deltaSize: 3 }).text("Hello").toolUse("Bash", { a: 1 });
    const built = events(stream.done({ usage: { output_tokens: 7 } }));
    const types = built.map(({ type }) => String(type).replace("content_block_", "")).join(" ");
    expect(types).toBe(
      "message_start start delta delta stop start delta delta delta stop message_delta message_stop",
    );
    expect(built[2]).toEqual({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: "Hel" },
    });
    expect(built[5]).toMatchObject({ index: 1, content_block: { id: "toolu_a_1", name: "Bash", input: {} } });
    expect(built.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } });
  });

  it("cuts no character in two, and puts in pings", () => {
    const built = events(answer({ deltaSize: 1, pingEvery: 2 }).text("🦊≤a").done());
    expect(
      built.map((event) => (event["delta"] as { text?: string } | undefined)?.text).filter(Boolean),
    ).toEqual(["🦊", "≤", "a"]);
    expect(built.filter(({ type }) => type === "ping")).toHaveLength(1);
  });

  it("gives each answer ids of its own", () => {
    const calls = [answer(), answer()].map((one) => /toolu_\w+/.exec(one.toolUse("A", {}).done())?.[0]);
    expect(new Set(calls).size).toBe(2);
  });

  it("can end in an error, or not at all", () => {
    expect(events(answer().text("a").error("api_error", "x")).at(-1)).toEqual({
      type: "error",
      error: { type: "api_error", message: "x" },
    });
    expect(answer().raw(": hi\n\n").unfinished()).toMatch(/\n\n: hi\n\n$/);
    expect(sseEvent({ type: "ping" })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });
});
