import { describe, expect, it } from "vitest";
import { runCli, scriptFile } from "../support/cli.ts";

const SIZES = [10_000, 20_000, 40_000] as const;

async function bytesOf(
  size: number,
  answer: (text: string) => object,
  flags: string[] = [],
): Promise<number> {
  const text = "0123456789abcdef ghi".repeat(size / 20);
  const script = scriptFile({ chunk_characters: 20, answers: [answer(text), "Done."] });
  const run = await runCli(["-p", "x", "--json", "--tools", "", "--fake", script, ...flags]);
  expect(run.code).toBe(0);
  return run.stdout.length;
}

describe("VO-01: what is printed grows with the work, not with its square", () => {
  it.each([
    ["text", 10, (text: string) => ({ content: [{ type: "text", text }] }), []],
    [
      "text, every delta a line",
      13,
      (text: string) => ({ content: [{ type: "text", text }] }),
      ["--coalesce-ms", "0"],
    ],
    [
      "arguments of a call",
      10,
      (text: string) => ({ content: [{ type: "tool_use", name: "Write", input: { text } }] }),
      ["--include-tool-input"],
    ],
  ] as const)("%s", async (_name, times, answer, flags) => {
    const [small, middle, large] = await Promise.all(SIZES.map((size) => bytesOf(size, answer, [...flags])));
    if (small === undefined || middle === undefined || large === undefined) throw new Error("unreachable");
    // Twice the work adds twice as much; only the number of lines, which time decides, may blur it.
    expect((large - middle) / (middle - small)).toBeLessThan(3);
    expect(large).toBeLessThan(SIZES[2] * times);
  });
});
