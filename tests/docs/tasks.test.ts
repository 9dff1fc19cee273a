import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TOOL_NAMES } from "../../src/tools/registry.ts";
import { ofType, runShell, type CliRun } from "../support/cli.ts";
import { createWorkplace, type Workplace } from "../support/docs-workplace.ts";
import { lint, parseLines } from "../support/lint.ts";

// Three tasks as people give them, offline: the calls are real, only the model is a script.
let workplace: Workplace;
beforeEach(() => {
  workplace = createWorkplace();
});
afterEach(() => workplace.remove());

interface Task {
  script: string;
  flags: string;
  /** Name and status of each call. */
  calls: [string, string][];
  answer: string;
  exitCode: number;
  status: string;
}

const TASKS: Task[] = [
  {
    script: "find-definition",
    flags: "",
    calls: [
      ["Grep", "ok"],
      ["Glob", "ok"],
      ["Read", "ok"],
    ],
    answer:
      "`greet` is defined in examples/greeter/greet.mjs, line 2. It returns a greeting for a name, or for the world.",
    exitCode: 0,
    status: "ok",
  },
  {
    script: "edit-and-test",
    flags: '--permission-mode accept-edits --allowed-tools "Bash(node --test *)"',
    calls: [
      ["Bash", "error"],
      ["Read", "ok"],
      ["Edit", "ok"],
      ["Bash", "ok"],
    ],
    answer: "The greeting now ends with an exclamation mark, and its test passes.",
    exitCode: 0,
    status: "ok",
  },
  {
    script: "denied",
    flags: "--fail-on-denied",
    calls: [
      ["Read", "ok"],
      ["Write", "denied"],
    ],
    answer:
      "I could not write SUMMARY.md: writing files is not allowed here. It would have held one heading.",
    exitCode: 4,
    status: "error",
  },
];

function play({ script, flags }: Task, format: string): Promise<CliRun> {
  const command = `linefeed -p "do it" --fake examples/scripts/${script}.json ${flags} --output-format ${format}`;
  return runShell(command, { cwd: workplace.folder, env: { PATH: workplace.path } });
}

describe.each(TASKS)("$script", (task) => {
  it("as jsonl: every call, then the answer and the exit code", async () => {
    const { stdout, code } = await play(task, "jsonl");
    expect(lint(stdout)).toEqual([]);
    const events = parseLines(stdout);
    expect(ofType(events, "init")[0]?.tools).toEqual(TOOL_NAMES);
    expect(ofType(events, "tool_end").map(({ name, status }) => [name, status])).toEqual(task.calls);
    expect(ofType(events, "tool_start").length).toBe(
      task.calls.filter(([, status]) => status !== "denied").length,
    );
    const [result] = ofType(events, "result");
    expect(result).toMatchObject({ text: task.answer, exit_code: task.exitCode, status: task.status });
    expect(result?.permission_denials.length).toBe(
      task.calls.filter(([, status]) => status === "denied").length,
    );
    expect(code).toBe(task.exitCode);
  });

  it("as json: the last word alone", async () => {
    const { stdout, code } = await play(task, "json");
    expect(JSON.parse(stdout.toString("utf8"))).toMatchObject({
      type: "result",
      text: task.answer,
      exit_code: task.exitCode,
      status: task.status,
    });
    expect(code).toBe(task.exitCode);
  });

  it("as text: the answer alone", async () => {
    const { stdout, code } = await play(task, "text");
    expect(stdout.toString("utf8")).toBe(`${task.answer}\n`);
    expect(code).toBe(task.exitCode);
  });

  it("as pretty: the calls and the answer for a person", async () => {
    const { stdout, code } = await play(task, "pretty");
    const screen = stdout.toString("utf8");
    for (const [name] of task.calls) expect(screen).toContain(`⏺ ${name} `);
    expect(screen.replaceAll(/\s+/g, " ")).toContain(task.answer);
    expect(code).toBe(task.exitCode);
  });
});

it("what the tasks say is what they did", async () => {
  const [find, edit, denied] = TASKS;
  if (!find || !edit || !denied) throw new Error("three tasks");
  const found = ofType(parseLines((await play(find, "jsonl")).stdout), "tool_end");
  expect(found[0]?.content).toContain("examples/greeter/greet.mjs:2:export function greet(name) {");
  expect(found[1]?.content).toContain("examples/greeter/greet.mjs\n");
  await play(edit, "text");
  expect(readFileSync(join(workplace.folder, "examples/greeter/greet.mjs"), "utf8")).toContain('"world"}!`;');
  await play(denied, "text");
  expect(existsSync(join(workplace.folder, "SUMMARY.md"))).toBe(false);
});
