import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { joined, scriptFile } from "../support/cli.ts";
import { parseLines } from "../support/lint.ts";
import { bash, newState, onlyId } from "../support/sessions.ts";

// The number of a line is a place in the session: it does not depend on who reads, on what he leaves out, nor on merging.
it("BG-13, BG-15: from whatever line one goes on, with a filter or without, nothing is missing and nothing twice", async () => {
  const here = newState();
  const script = scriptFile({
    chunk_characters: 3,
    delay_ms: 20,
    answers: [
      { content: [{ type: "text", text: "Text that comes in pieces. " }, ...bash("echo hi").content] },
      "The rest.",
    ],
  });
  await here.run(["-p", "x", "--fake", script, "--allowed-tools", "Bash", "--coalesce-ms", "15"]);
  const log = readFileSync(here.log(onlyId(here)));
  const events = parseLines(log);
  const whole = joined(events, "text_delta");
  expect(whole).toBe("Text that comes in pieces. The rest.");
  const deltas = events.filter(({ type }) => type === "text_delta");
  expect(deltas.length).toBeGreaterThan(3);
  for (const { seq } of [...deltas.slice(0, 3), ...events.filter(({ type }) => type === "message")]) {
    const seen = events.slice(0, seq);
    const rest = await here.run(["attach", "--from", String(seq + 1)]);
    expect(joined([...seen, ...rest.events], "text_delta")).toBe(whole);
    expect([...seen, ...rest.events]).toEqual(events);
  }
});
