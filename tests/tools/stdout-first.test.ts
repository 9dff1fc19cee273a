import { expect, it } from "vitest";
import { stdoutFirst } from "../../src/tools/stdout-first.ts";
import type { ToolOutput } from "../../src/tools/tool.ts";

async function* pieces(...given: [ToolOutput["stream"], string][]): AsyncGenerator<ToolOutput> {
  for (const [stream, text] of given) yield { stream, text };
}

async function textsOf(output: AsyncIterable<ToolOutput>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { stream, text } of output) texts.push(`${stream}: ${text}`);
  return texts;
}

it("gives stdout as it comes and stderr behind it", async () => {
  const output = pieces(["stderr", "a"], ["stdout", "b"], ["stderr", "c"], ["stdout", "d"]);
  expect(await textsOf(stdoutFirst(output))).toEqual(["stdout: b", "stdout: d", "stderr: a", "stderr: c"]);
});

it("holds back no more than it may", async () => {
  const output = pieces(
    ["stderr", "aa"],
    ["stdout", "b"],
    ["stderr", "cc"],
    ["stderr", "d"],
    ["stdout", "e"],
  );
  expect(await textsOf(stdoutFirst(output, 4))).toEqual([
    "stdout: b",
    "stderr: aa",
    "stderr: cc",
    "stderr: d",
    "stdout: e",
  ]);
});
