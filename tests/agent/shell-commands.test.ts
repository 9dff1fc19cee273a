import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandPattern, findGap, ruleFor } from "../../src/agent/command-rules.ts";
import { understand, type SimpleCommand } from "../../src/agent/shell-commands.ts";
import { tokenize } from "../../src/agent/shell-words.ts";
import { RealBash } from "../support/real-bash.ts";
import { shellText } from "../support/shell-text.ts";

const bash = new RealBash();
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 300);
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_261);

/** What would run if every program ended with `status`. */
function expectedRuns(command: string, commands: readonly SimpleCommand[], status: 0 | 1): SimpleCommand[] {
  const joints = ["", ...jointsOf(command)];
  let runs = true;
  return commands.filter((_, index) => {
    const joint = joints[index] ?? "";
    if (joint === "&&" || joint === "||") {
      // What was left out leaves the status as it was, which is always the same here.
      runs = joint === "&&" ? status === 0 : status === 1;
    } else if (joint !== "|") {
      runs = true;
    }
    return runs;
  });
}

/** What stands between the simple commands. */
function jointsOf(command: string): string[] {
  const joints: string[] = [];
  let empty = true;
  for (const token of tokenize(command)) {
    if (token.kind !== "operator") empty = false;
    else if (!(empty && token.operator === "\n")) {
      joints.push(token.operator);
      empty = true;
    }
  }
  return joints;
}

function isRunOf({ words }: SimpleCommand, run: readonly string[]): boolean {
  const [word, ...more] = words;
  if (word.wild.length === 0) {
    if (run[0] !== word.text) return false;
    return more.length === 0 ? run.length === 1 : isRunOf({ words: rest(more) }, run.slice(1));
  }
  if (more.length === 0) return true;
  return run.some((_, taken) => isRunOf({ words: rest(more) }, run.slice(taken)));
}

function rest(words: SimpleCommand["words"][number][]): SimpleCommand["words"] {
  const [first, ...more] = words;
  if (!first) throw new Error("no words");
  return [first, ...more];
}

function areRunsOf(commands: readonly SimpleCommand[], runs: readonly (readonly string[])[]): boolean {
  const [first, ...more] = commands;
  if (!first) return runs.length === 0;
  return runs.some((run, index) => isRunOf(first, run) && areRunsOf(more, runs.toSpliced(index, 1)));
}

/** Programs that the tracing bash does not record. */
const unseen = ({ words: [{ text }] }: SimpleCommand) => text.includes("/") || text === "enable";

function checkAgainstBash(command: string): boolean {
  const understood = understand(command);
  if ("why" in understood || understood.commands.some(unseen)) return false;
  for (const status of [0, 1] as const) {
    const { runs, stderr, touched } = bash.trace(command, status);
    const expected = expectedRuns(command, understood.commands, status);
    const about = JSON.stringify({ command, status, runs, stderr });
    expect(areRunsOf(expected, runs), about).toBe(true);
    expect(stderr, about).toBe("");
    expect(touched, about).toEqual([]);
  }
  return true;
}

const words = (command: string) => {
  const understood = understand(command);
  return "why" in understood
    ? understood.why
    : understood.commands.map((one) => one.words.map((w) => w.text));
};

describe.runIf(bash.records)("what a real bash runs", () => {
  it.each([
    ["a", [["a"]]],
    ["a x 'y z' \"w v\"", [["a", "x", "y z", "w v"]]],
    ["a 'x'\"y\"z\\ w", [["a", "xyz w"]]],
    ["a '' \"\" x''", [["a", "", "", "x"]]],
    ['a "\\$ \\" \\\\ \\n \\x"', [["a", '$ " \\ \\n \\x']]],
    ["a '\\' 'x\ny' \"x\ny\"", [["a", "\\", "x\ny", "x\ny"]]],
    ['a "x$" "$" "$|b"', [["a", "x$", "$", "$|b"]]],
    ["a 'é 中' \"é 😀\"", [["a", "é 中", "é 😀"]]],
    ["a HEAD~1 HEAD~~ HEAD^ x#y ''#x a=b %1 @x +x ] [", [["a", "HEAD~1", "HEAD~~", "HEAD^", "x#y", "#x", "a=b", "%1", "@x", "+x", "]", "["]]], // prettier-ignore
    ["[ -f x ]", [["[", "-f", "x", "]"]]],
    ["a&&b||cc;a|b\nb", [["a"], ["b"], ["cc"], ["a"], ["b"], ["b"]]],
    ["\n\n a &&\n\n b |\n cc ;\n a;\n", [["a"], ["b"], ["cc"], ["a"]]],
    ["a x>/dev/null", "output is redirected; only `> /dev/null`, `2> /dev/null`, `&> /dev/null` and `2>&1` are understood, with a blank in front"], // prettier-ignore
    ["a >/dev/null 2>&1 x && b 2>/dev/null | cc &>/dev/null", [["a", "x"], ["b"], ["cc"]]],
    ["2>/dev/null a", [["a"]]],
    ["a 2 >/dev/null '2' >/dev/null", [["a", "2", "2"]]],
    ["a *.txt 'f'*", [["a", "*.txt", "f*"]]],
    ["a -- '#x' \\# \\~ \\! '!'", [["a", "--", "#x", "#", "~", "!", "!"]]],
    ["'if' x", "if is a word of the shell"],
  ])("%j", (command, expected) => {
    expect(words(command)).toEqual(expected);
    expect(checkAgainstBash(command)).toBe(Array.isArray(expected));
  });

  it(
    "is what the tokenizer says, for whatever it claims to understand",
    () => {
      let understood = 0;
      const property = fc.property(shellText, (command) => {
        if (checkAgainstBash(command)) understood += 1;
      });
      fc.assert(property, { numRuns: RUNS, seed: SEED });
      // Else the test would test nothing.
      expect(understood).toBeGreaterThan(RUNS / 4);
    },
    RUNS * 500,
  );

  it(
    "is within the rules, for every command that they cover",
    () => {
      const patterns = ["a *", "b -l *", "cc"].map(commandPattern);
      const within = ([name, option, ...more]: readonly string[]) =>
        name === "a" ||
        (name === "b" && option === "-l") ||
        (name === "cc" && option === undefined && more.length === 0);
      let covered = 0;
      const property = fc.property(shellText, (command) => {
        if (findGap(patterns, command)) return;
        covered += 1;
        for (const status of [0, 1] as const) {
          const { runs, touched } = bash.trace(command, status);
          expect(
            runs.filter((run) => !within(run)),
            JSON.stringify(command),
          ).toEqual([]);
          expect(touched, JSON.stringify(command)).toEqual([]);
        }
      });
      fc.assert(property, { numRuns: RUNS * 3, seed: SEED });
      expect(covered).toBeGreaterThan(RUNS / 20);
    },
    RUNS * 1500,
  );
});

describe("a rule that is copied from a denial", () => {
  it("covers the command as it stands", () => {
    const property = fc.property(shellText, (text) => {
      const gap = findGap([], text);
      if (gap?.kind !== "uncovered") return;
      const rule = ruleFor("Bash", gap.command);
      if (rule === undefined) return;
      const pattern = commandPattern(rule.slice("Bash(".length, -1));
      const command = gap.command.words.map(({ source }) => source).join(" ");
      expect(findGap([pattern], command)).toBeUndefined();
    });
    fc.assert(property, { numRuns: 2000, seed: SEED });
  });
});
