import * as fc from "fast-check";
import { expect, it } from "vitest";
import { readRun } from "../../src/cli/read-run.ts";
import { readWithHelp } from "../../src/cli/run-command.ts";
import { RUN_OPTIONS } from "../../src/cli/run-options.ts";

// Two readers, one table: what the quick one understands, commander understands in the same way.

const names = RUN_OPTIONS.flatMap(({ flags }) => flags.split(/[ ,]+/).filter((word) => word.startsWith("-")));
const ID = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97";
const values = [
  ID,
  "stdio",
  "fake",
  "high",
  "omitted",
  "",
  "x",
  "-",
  "--",
  "--json",
  "-x",
  "3",
  "1.5",
  "500ms",
  "7d",
  "0",
  "jsonl",
  "text",
  "acceptEdits",
  "plan",
];
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...names) },
  { weight: 4, arbitrary: fc.constantFrom(...values) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...values))
      .map(([name, text]) => `${name}=${text}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("--allowedTools", "--maxSteps=2", "-mx", "-cp", "--nonsense", "two words"),
  },
);

function byCommander(argv: readonly string[]) {
  try {
    return readWithHelp(argv);
  } catch {
    return undefined;
  }
}

it("reads what it reads as commander does", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (argv) => {
      const quick = readRun(argv);
      if (!quick) return;
      read += 1;
      expect(quick).toEqual(byCommander(argv));
    }),
    { numRuns: 3000 },
  );
  expect(read).toBeGreaterThan(300);
});

it("reads every option, and a usual command line, without commander", () => {
  const usual = [
    "-p",
    "- [ ] a task",
    "--output-format",
    "jsonl",
    "--allowedTools",
    "Bash(git log *),Read",
    "-r",
  ];
  expect(readRun(usual)).toEqual(byCommander(usual));
  for (const { flags } of RUN_OPTIONS) {
    const [name = ""] = flags.split(/[ ,]+/);
    const argv = /<.+>/.test(flags) ? values.map((text) => [name, text]) : [[name]];
    expect([flags, argv.some((words) => readRun(words) !== undefined)]).toEqual([flags, true]);
  }
});

it.each([[["--nonsense"]], [["--max-steps", "many"]], [["--help"]], [["--model"]]])(
  "leaves %j to commander",
  (argv) => {
    expect(readRun(argv)).toBeUndefined();
  },
);
