import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { EventBody, LinefeedEvent } from "../../src/protocol/event.ts";
import { golden, render, renderer, screen } from "./support.ts";

const streams = readdirSync("examples/streams")
  .filter((file) => file.endsWith(".jsonl"))
  .map((file) => file.replace(".jsonl", ""));

const stamped = (body: EventBody): LinefeedEvent => ({
  ...body,
  seq: 1,
  ts: "2026-01-15T09:30:00.000Z",
  session_id: null,
});
const text = (words: string, block = 0) => stamped({ type: "text_delta", step: 1, block, text: words });
const stepStart = stamped({ type: "step_start", turn: 1, step: 1, attempt: 1, model: "fake" });
const toolStart = (id: string, summary: string) =>
  stamped({ type: "tool_start", step: 1, tool_use_id: id, name: "Bash", input: {}, summary });
const toolOutput = (id: string, words: string) =>
  stamped({ type: "tool_output_delta", tool_use_id: id, stream: "stdout", text: words });
const toolEnd = (id: string, content: string, more: object = {}) =>
  stamped({
    type: "tool_end",
    step: 1,
    tool_use_id: id,
    name: "Bash",
    status: "ok",
    is_error: false,
    content,
    duration_ms: 1200,
    exit_code: 0,
    truncated: false,
    ...more,
  });
const message = (...content: Extract<EventBody, { type: "message" }>["content"]) =>
  stamped({
    type: "message",
    turn: 1,
    step: 1,
    id: "m",
    role: "assistant",
    model: "fake",
    content,
    stop_reason: "end_turn",
    usage: null,
    request_id: null,
  });

describe.each(streams)("the golden stream %s", (name) => {
  it.each([80, 40])("at %i columns", async (width) => {
    const plain = render(golden(name), { width });
    await expect(plain).toMatchFileSnapshot(`screens/${name}.${width}.txt`);
    expect(plain).not.toContain("\u001b");
  });

  it("in colour is the same text with codes around it", async () => {
    const coloured = render(golden(name), { colour: true });
    await expect(coloured.replaceAll("\u001b", "␛")).toMatchFileSnapshot(`screens/${name}.colour.txt`);
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(render(golden(name)));
  });

  it("with a spinner leaves the same text on the screen", () => {
    const { pretty, clock } = renderer({ spinner: true });
    let out = "";
    for (const event of golden(name)) {
      out += pretty.event(event);
      for (let tick = 0; tick < 20; tick += 1) {
        clock.now += 120;
        out += pretty.tick?.text() ?? "";
      }
    }
    const lines = (words: string) => words.split("\n").map((line) => line.trimEnd());
    const quiet = golden(name).filter(({ type }) => type !== "heartbeat");
    expect(lines(screen(out).trimEnd())).toEqual(lines(render(quiet).trimEnd()));
  });
});

describe("text", () => {
  it("is not printed twice when its message comes, and whole where there were no deltas", () => {
    const whole = render([stepStart, message({ type: "text", text: "one two" })]);
    expect(render([stepStart, text("one "), text("two"), message({ type: "text", text: "one two" })])).toBe(
      whole,
    );
    expect(whole).toBe("● one two\n");
  });

  it("is completed by its message where only the first deltas were seen", () => {
    expect(render([stepStart, text("one t"), message({ type: "text", text: "one two" })])).toBe(
      "● one two\n",
    );
  });

  it("goes out live, but for the word that may go on", () => {
    const { pretty } = renderer();
    pretty.event(stepStart);
    expect(pretty.event(text("one tw"))).toBe("● one");
    expect(pretty.event(text("o three"))).toBe(" two");
  });

  it("is not torn by a notice", () => {
    const notice = stamped({ type: "notice", level: "info", code: "stdin_ignored", message: "By the way." });
    expect(render([stepStart, text("one t"), notice, text("wo"), message()])).toBe(
      "● one two\n\n◇ By the way.\n",
    );
  });

  it("control characters and escape sequences are shown, not obeyed", () => {
    const out = render([
      stepStart,
      message({
        type: "text",
        text: "a\u001b[31mb\u0007\u009b2J \u202eevil\r\nnext\rover\ttab\u007f \ud800",
      }),
      toolStart("1", "printf '\u001b]0;title\u0007'"),
      toolEnd("1", "\u001b[2Jgone\u0008\u0000"),
    ]);
    expect(out).toBe(
      [
        "● a␛[31mb␇\\u009b2J \\u202eevil",
        "  next␍over   tab␡ \ufffd",
        "",
        "⏺ Bash printf '␛]0;title␇'",
        "  ␛[2Jgone␈␀",
        "  ✔ 1.2 s",
        "",
      ].join("\n"),
    );
  });

  it("sets the rows of a list in", () => {
    const out = render(
      [stepStart, message({ type: "text", text: "List:\n\n- one two three four\n  10. five six seven" })],
      {
        width: 19,
      },
    );
    expect(out).toBe("● List:\n\n  - one two three\n    four\n    10. five six\n        seven\n");
  });
});

describe("calls", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1}\n`).join("");

  it("show three lines live and no line twice", () => {
    const { pretty } = renderer();
    expect(pretty.event(toolStart("1", "seq 9"))).toBe("⏺ Bash seq 9\n");
    expect(pretty.event(toolOutput("1", "1\n2"))).toBe("  1\n");
    expect(pretty.event(toolOutput("1", "\n3\n4\n5\n"))).toBe("  2\n  3\n");
    expect(pretty.event(toolOutput("1", "6\n"))).toBe("");
    expect(pretty.event(toolEnd("1", numbers(9)))).toBe("  ✔ 1.2 s (+6 lines)\n");
  });

  it("that fail show how they ended", () => {
    const end = { status: "error", exit_code: 3, is_error: true };
    expect(
      render([
        toolStart("1", "make"),
        toolOutput("1", numbers(4)),
        toolEnd("1", `${numbers(9)}Exit code 3`, end),
      ]),
    ).toBe("⏺ Bash make\n  1\n  2\n  3\n  (+3 lines)\n  7\n  8\n  9\n  ✘ exit code 3 · 1.2 s\n");
  });

  it("side by side are printed one after the other", () => {
    const events = [
      toolStart("1", "one"),
      toolStart("2", "two"),
      toolOutput("2", "b\n"),
      toolOutput("1", "a\n"),
      toolEnd("1", "a\n"),
      toolEnd("2", "b\n"),
    ];
    expect(render(events)).toBe("⏺ Bash one\n  a\n  ✔ 1.2 s\n⏺ Bash two\n  b\n  ✔ 1.2 s\n");
  });

  it("without output or with an unfinished line", () => {
    expect(render([toolStart("1", "true"), toolEnd("1", "(no output)")])).toBe("⏺ Bash true\n  ✔ 1.2 s\n");
    expect(render([toolStart("1", "printf x"), toolOutput("1", "x"), toolEnd("1", "x")])).toBe(
      "⏺ Bash printf x\n  x\n  ✔ 1.2 s\n",
    );
  });
});

describe("the spinner", () => {
  it("says what is waited for, after a while, and is erased before anything else", () => {
    const { pretty, clock } = renderer({ spinner: true });
    pretty.event(toolStart("1", "sleep 5"));
    clock.now += 120;
    expect(pretty.tick?.text()).toBe("");
    clock.now += 4880;
    expect(pretty.tick?.text()).toBe("⠋ 5 s · Bash sleep 5");
    expect(pretty.tick?.text()).toBe("\r\u001b[2K⠙ 5 s · Bash sleep 5");
    expect(pretty.event(toolEnd("1", ""))).toBe("\r\u001b[2K  ✔ 1.2 s\n");
  });

  it("stands below text that is being written, and shows the word that waits", () => {
    const { pretty, clock } = renderer({ spinner: true, colour: true });
    pretty.event(stepStart);
    const begun = pretty.event(text("one two"));
    clock.now += 1500;
    const spun = begun + (pretty.tick?.text() ?? "");
    expect(screen(spun)).toBe("● one two\n⠋ 2 s · the model writes");
    expect(screen(spun + pretty.event(text("x three  "))).trimEnd()).toBe("● one twox three");
  });

  it("is gone after the last word", () => {
    const { pretty, clock } = renderer({ spinner: true });
    for (const event of golden("cancelled")) pretty.event(event);
    clock.now += 60_000;
    expect(pretty.tick?.text()).toBe("");
  });

  it("a heartbeat takes its place where there is no terminal", () => {
    const beat = stamped({ type: "heartbeat", turn: 1, step: 1, waiting_for: "tool", elapsed_ms: 15_000 });
    expect(render([toolStart("1", "sleep 20"), beat])).toBe("⏺ Bash sleep 20\n  … 15 s\n");
    expect(render([stepStart, beat])).toBe("◇ 15 s · waiting for the model\n");
  });
});
