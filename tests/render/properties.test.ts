import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventBody, LinefeedEvent } from "../../src/protocol/event.ts";
import { visible } from "../../src/render/visible.ts";
import { clustersOf, fit, widthOf } from "../../src/render/width.ts";
import { cells, render, renderer, screen } from "./support.ts";

const stamped = (body: EventBody): LinefeedEvent => ({ ...body, seq: 1, ts: "", session_id: null });
const words = fc.constantFrom(
  "word ",
  "a",
  " ",
  "\n",
  "\n\n",
  "\t",
  "- ",
  "1. ",
  "漢字",
  "、",
  "（",
  "。",
  "é",
  "e\u0301",
  "\u0301",
  "👩‍👩‍👧",
  "🫖",
  "❤️",
  "🇩🇪",
  "👍🏽",
  "\r\n",
  "\r",
  "\u001b[2J",
  "\u009b1m",
  "\u0007",
  "\u202e",
  "\ud800",
  "\udc00",
  "\u2028",
  "한",
  "नि",
  "ﷺ",
  "　",
  "https://example.org/a/very/long/path/without/a/break/at/all",
);
const someText = fc
  .array(fc.oneof({ weight: 4, arbitrary: words }, { weight: 1, arbitrary: fc.string({ unit: "binary" }) }), {
    maxLength: 40,
  })
  .map((parts) => parts.join(""));
const columns = fc.integer({ min: 12, max: 90 });

/** Cuts at any places, inside of characters too. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => (text === "" ? 0 : place % text.length)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...at].map((begin, index) => text.slice(begin, at[index] ?? text.length));
}

function answer(pieces: readonly string[], type: "text_delta" | "thinking_delta"): LinefeedEvent[] {
  const text = pieces.join("");
  const block =
    type === "text_delta" ? { type: "text" as const, text } : { type: "thinking" as const, thinking: text };
  return [
    stamped({ type: "step_start", turn: 1, step: 1, attempt: 1, model: "m" }),
    ...pieces.map((piece) => stamped({ type, step: 1, block: 0, text: piece })),
    stamped({
      type: "message",
      turn: 1,
      step: 1,
      id: "m",
      role: "assistant",
      model: "m",
      content: [block],
      stop_reason: "end_turn",
      usage: null,
      request_id: null,
    }),
  ];
}

/** A whole run in which everything that comes from outside is this text. */
function run(text: string): LinefeedEvent[] {
  const error = {
    code: "overloaded" as const,
    message: text,
    http_status: 529,
    retryable: true,
    provider: null,
    request_id: null,
  };
  const call = { step: 1, tool_use_id: "1", name: text };
  return [
    stamped({
      type: "init",
      protocol: 1,
      version: "1",
      model: text,
      provider: "p",
      cwd: text,
      tools: [],
      permission_mode: "default",
      resumed: false,
    }),
    stamped({ type: "turn_start", turn: 1, prompt: text }),
    ...answer([text], "thinking_delta"),
    stamped({
      type: "retry",
      step: 1,
      attempt: 1,
      max_attempts: 2,
      delay_ms: 5,
      error,
      discards_partial: true,
      usage: null,
    }),
    ...answer([text], "text_delta"),
    stamped({ type: "notice", level: "warning", code: "stdin_ignored", message: text }),
    stamped({ type: "tool_start", ...call, input: {}, summary: text }),
    stamped({ type: "tool_output_delta", tool_use_id: "1", stream: "stdout", text }),
    stamped({
      type: "tool_end",
      ...call,
      status: "error",
      is_error: true,
      content: text,
      duration_ms: 99_999,
      exit_code: null,
      truncated: false,
    }),
    stamped({
      type: "tool_end",
      ...call,
      tool_use_id: "2",
      status: "denied",
      is_error: true,
      content: text,
      duration_ms: 0,
      exit_code: null,
      truncated: false,
    }),
    stamped({
      type: "turn_end",
      turn: 1,
      status: "error",
      stop_reason: null,
      steps: 1,
      usage: null,
      duration_ms: 1,
      error,
    }),
    stamped({
      type: "result",
      status: "error",
      exit_code: 75,
      text: null,
      error,
      stop_reason: null,
      turns: 1,
      steps: 1,
      usage: null,
      usage_by_model: {},
      duration_ms: 1,
      api_duration_ms: 1,
      permission_denials: [],
      children_left: [{ pid: 1, command: text, tool_use_id: "1" }],
      signal: null,
      synthetic: false,
    }),
  ];
}

describe("for any text", () => {
  it("any cut of the deltas gives the same", () => {
    fc.assert(
      fc.property(someText, fc.array(fc.nat(500)), columns, fc.boolean(), (text, places, width, colour) => {
        const whole = render(answer([text], "text_delta"), { width, colour });
        expect(render(answer(cut(text, places), "text_delta"), { width, colour })).toBe(whole);
        const [first] = answer([], "text_delta");
        const message = answer([text], "text_delta").at(-1);
        if (first && message) expect(render([first, message], { width, colour })).toBe(whole);
      }),
    );
  });

  it("nothing visible is lost or added but white space", () => {
    fc.assert(
      fc.property(someText, columns, (text, width) => {
        const bare = (string: string) => string.replaceAll(/[ \t\n\u3000]/g, "");
        expect(bare(`●${render(answer([text], "text_delta"), { width })}`.replace("●●", "●"))).toBe(
          bare(`●${visible(text)}`),
        );
      }),
    );
  });

  it("no control character goes out but LF and our own codes, and no row is too wide", () => {
    fc.assert(
      fc.property(someText, columns, fc.boolean(), (text, width, colour) => {
        const out = render(run(text), { width, colour });
        const plain = colour ? out.replaceAll(/\u001b\[\d+m/g, "") : out;
        expect(plain).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
        expect(plain.isWellFormed()).toBe(true);
        expect(plain.split("\n").filter((row) => cells(row) >= width)).toEqual([]);
      }),
    );
  });

  it("a spinner at any moment leaves nothing behind", () => {
    const simple = fc.array(fc.constantFrom("word ", "a", " ", "\n", "- ", "é", "long-long-long-word"), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(simple, columns, fc.boolean(), (pieces, width, colour) => {
        const { pretty, clock } = renderer({ width, colour, spinner: true });
        let out = "";
        for (const event of answer(pieces, "thinking_delta")) {
          out += pretty.event(event);
          clock.now += 700;
          out += pretty.tick?.text() ?? "";
          clock.now += 700;
          out += pretty.tick?.text() ?? "";
        }
        const rows = (text: string) =>
          text
            .split("\n")
            .map((row) => row.trimEnd())
            .join("\n")
            .trimEnd();
        // The spinner that waits for what comes next is still there.
        out += pretty.event(
          stamped({ type: "notice", level: "info", code: "stdin_ignored", message: "end" }),
        );
        const still = render(answer(pieces, "thinking_delta"), { width });
        const gap = still === "" ? "" : "\n";
        expect(rows(screen(out))).toBe(rows(`${still}${gap}◇ end`));
      }),
    );
  });
});

describe("width", () => {
  it("is never less than what a simple terminal gives", () => {
    fc.assert(
      fc.property(someText, (text) => {
        const shown = visible(text).replaceAll(/[\n\t]/g, " ");
        expect(widthOf(shown)).toBeGreaterThanOrEqual(cells(shown));
      }),
    );
  });

  it.each([
    ["a", 1],
    ["é", 1],
    ["e\u0301", 1],
    ["漢", 2],
    ["한", 2],
    ["🫖", 2],
    ["❤️", 2],
    ["🇩🇪", 2],
    ["👍🏽", 4],
    ["👩‍👧", 4],
    ["\u200b", 0],
    ["\u00ad", 1],
  ])("of %j is at most %i", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it("the clusters are those of the segmenter", () => {
    const text = "ab\tc é e\u0301x 漢字が\u3099 한국\u11a8 👩‍❤️‍👩 ❤️. 🇩🇪🇫🇷 नि– «Ä» ─┼ 👍🏽a\u0301";
    const segments = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
    // The widest is taken apart.
    const apart = segments.flatMap((segment) => (widthOf(segment) > 8 ? Array.from(segment) : [segment]));
    expect(clustersOf(text).map((cluster) => cluster.text)).toEqual(apart);
  });

  it("fit keeps what fits, and says where it cut", () => {
    expect(fit("漢字漢字", 8)).toBe("漢字漢字");
    expect(fit("漢字漢字", 7)).toBe("漢字漢…");
    expect(fit("漢字漢字", 6)).toBe("漢字…");
    expect(fit("a\tb", 9)).toBe("a    b");
    expect(fit("one two", 5)).toBe("one…");
    expect(fit("x".repeat(1_000_000), 10)).toBe("xxxxxxxxx…");
  });
});
