import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseScript } from "../../src/model/scripted/script.ts";
import { EVENT_TYPES } from "../../src/protocol/events.ts";
import { runShell, scriptFile } from "../support/cli.ts";
import { createWorkplace, type Workplace } from "../support/docs-workplace.ts";
import { lint } from "../support/lint.ts";

let workplace: Workplace;
beforeAll(() => {
  workplace = createWorkplace();
});
afterAll(() => workplace.remove());

const run = (command: string) => runShell(command, { cwd: workplace.folder, env: { PATH: workplace.path } });
const TOUR = '--fake examples/scripts/tour.json --allowed-tools "Bash(ls *) Bash(grep *)"';

describe("scripts", () => {
  it.each(readdirSync("examples/scripts"))("%s is one", (file) => {
    const path = join("examples/scripts", file);
    expect(() => parseScript(readFileSync(path, "utf8"), path)).not.toThrow();
  });

  it("the one in docs/scripts.md is one", () => {
    const [, json = ""] = /```json\n([^]*?)```/.exec(readFileSync("docs/scripts.md", "utf8")) ?? [];
    expect(() => parseScript(json, "docs/scripts.md")).not.toThrow();
  });

  it("the tour answers truly, from what its commands really print", async () => {
    const { stdout, stderr, code } = await run(
      `linefeed -p "Which event types?" ${TOUR} --output-format jsonl`,
    );
    expect({ code, stderr, faults: lint(stdout) }).toEqual({ code: 0, stderr: "", faults: [] });
    const events = stdout
      .toString("utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const ends = events.filter((event) => event["type"] === "tool_end");
    expect(ends.map((event) => event["status"])).toEqual(["ok", "ok"]);
    const printed = String(ends[1]?.["content"]).split("\n").slice(0, -1);
    expect(printed.map((line) => line.trim().replace(": event", ""))).toEqual(EVENT_TYPES);
    const text = String(events.at(-1)?.["text"]);
    expect(text).toContain(`There are ${EVENT_TYPES.length} event types`);
    expect(EVENT_TYPES.filter((type) => !new RegExp(`\\b${type}\\b`).test(text))).toEqual([]);
  });
});

describe("live-text.sh", () => {
  it("prints the text and nothing else", async () => {
    const { stdout, code } = await run('examples/live-text.sh "hi" --fake examples/scripts/hello.json');
    expect(stdout.toString("utf8")).toBe("Hello from a script. No key, no network, the same every time.\n");
    expect(code).toBe(0);
  });

  it("says where an attempt was broken off, and hands on the exit code", async () => {
    const retried = await run('examples/live-text.sh "hi" --fake examples/scripts/retry.json');
    expect(retried.stdout.toString("utf8")).toMatch(
      /^This answer[^]*\n\[broken off[^]*\nThis answer is whole\.\n$/,
    );
    const limited = await run(`examples/live-text.sh "hi" --max-steps 1 ${TOUR}`);
    expect(limited.code).toBe(3);
  });
});

describe("tool-times.sh", () => {
  it("lists the calls that ran and those that did not", async () => {
    const ran = await run(`examples/tool-times.sh "hi" ${TOUR}`);
    expect(ran.stdout.toString("utf8")).toMatch(
      /^\d+ ms\tok\tBash\tls src\/protocol\n\d+ ms\tok\tBash\tgrep .*\n$/,
    );
    const denied = await run('examples/tool-times.sh "hi" --fake examples/scripts/tour.json');
    expect(denied.stdout.toString("utf8")).toBe("0 ms\tdenied\tBash\tnever began\n".repeat(2));
  });
});

describe("ci.sh", () => {
  it("keeps the stream, prints the answer and passes when the run is ok", async () => {
    const { stdout, stderr, code } = await run(`LOG=ci.jsonl examples/ci.sh "hi" ${TOUR}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.toString("utf8")).toContain("17 event types");
    expect(lint(readFileSync(join(workplace.folder, "ci.jsonl")))).toEqual([]);
  });

  it("fails with the run's exit code when it is not", async () => {
    const denied = await run('LOG=ci.jsonl examples/ci.sh "hi" --fake examples/scripts/tour.json');
    expect(denied).toMatchObject({ code: 4, stderr: "linefeed: error, exit code 4\n" });
    const wrong = await run('LOG=ci.jsonl examples/ci.sh "hi" --fake missing.json');
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("linefeed: error, exit code 2\n"),
    });
  });
});

describe("ci.mjs", () => {
  it("shows what happens, puts the answer on the summary page and passes when the run is ok", async () => {
    const { stdout, stderr, code } = await run(
      `GITHUB_STEP_SUMMARY=summary.md node examples/ci.mjs "hi" -- ${TOUR}`,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.toString("utf8")).toMatch(
      /^::stop-commands::(\S+)\n[^]*> ls src\/protocol\n> Bash: ok, \d+ ms\n[^]*17 event types[^]*\n::\1::\n$/,
    );
    expect(readFileSync(join(workplace.folder, "summary.md"), "utf8")).toContain("17 event types");
  });

  it("fails the job with the run's exit code and its reason when it is not", async () => {
    const denied = await run("node examples/ci.mjs hi -- --fake examples/scripts/tour.json");
    expect(denied.code).toBe(4);
    expect(denied.stdout.toString("utf8")).toMatch(
      /\n::warning title=linefeed::.*Bash.*\n[^]*\n::error title=linefeed::error: .*denied.*\n$/,
    );
    const wrong = await run("node examples/ci.mjs hi -- --fake missing.json");
    expect(wrong.code).toBe(2);
    expect(wrong.stdout.toString("utf8")).toMatch(/\n::error title=linefeed::error: .*missing\.json.*\n$/);
  });

  it("gives a job that is cancelled the run's last word", async () => {
    const slow = scriptFile([{ content: [{ type: "text", text: "word" }], stall: true }]);
    const { stdout, code } = await run(
      `node examples/ci.mjs hi -- --fake ${slow} >log & until grep -q word log; do sleep 0.05; done; kill -INT $!; wait $!; echo "code $?"; cat log`,
    );
    expect(code).toBe(0);
    expect(stdout.toString("utf8")).toMatch(
      /^code 130\n[^]*\n::error title=linefeed::cancelled: .*SIGINT\n$/,
    );
  });
});

describe("conversation.mjs", () => {
  const talk = (prompts: string, options: string) =>
    run(`node examples/conversation.mjs ${prompts} -- ${options}; echo "code $?"`);

  it("writes a prompt when the one before it is answered", async () => {
    const { stdout, stderr } = await talk("planet? moons?", "--fake examples/scripts/three-answers.json");
    expect(stdout.toString("utf8")).toBe(
      "> planet?\nJupiter is the largest planet.\n> moons?\n97 moons are known.\ncode 0\n",
    );
    expect(stderr).toBe("");
  });

  it("goes on after a prompt that failed, and ends with the run's exit code", async () => {
    const { stdout } = await talk('a " " b', "--fake examples/scripts/three-answers.json");
    expect(stdout.toString("utf8")).toBe(
      "> a\nJupiter is the largest planet.\n>  \nfailed: stdin:2: text: is blank\n> b\n97 moons are known.\ncode 1\n",
    );
    expect((await talk("a b", "--fake missing.json")).stdout.toString("utf8")).toBe("> a\ncode 2\n");
  });
});

describe("reader.py", () => {
  const reader = "| python3 examples/reader.py; exit ${PIPESTATUS[1]}";

  it("prints the text live and exits with the run's exit code", async () => {
    const ok = await run(`linefeed -p hi --json ${TOUR} ${reader}`);
    expect(ok).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\[Bash\] ls src\/protocol\n\[Bash\] grep /),
    });
    expect(ok.stdout.toString("utf8")).toMatch(/^I look where .*\n[^]*17 event types/);
    const limited = await run(`linefeed -p hi --json --max-steps 1 ${TOUR} ${reader}`);
    expect(limited).toMatchObject({ code: 3, stderr: expect.stringContaining("limit: ") });
  });

  it.each(readdirSync("examples/streams").filter((file) => file.endsWith(".jsonl")))(
    "agrees with the last line of %s",
    async (file) => {
      const lines = readFileSync(join("examples/streams", file), "utf8").trimEnd().split("\n");
      const result = JSON.parse(lines.at(-1) ?? "") as { exit_code: number };
      expect((await run(`python3 examples/reader.py < examples/streams/${file}`)).code).toBe(
        result.exit_code,
      );
    },
  );

  it("does not take a torn stream for a success", async () => {
    const torn = await run("head -n 5 examples/streams/tools.jsonl | python3 examples/reader.py");
    expect(torn).toMatchObject({ code: 1, stderr: "the stream ended without a result\n" });
  });
});

describe("embed.mjs", () => {
  it("prints what docs/library.md says, and nothing on stderr", async () => {
    const [, printed = ""] = /```text\n([^]*?)```/.exec(readFileSync("docs/library.md", "utf8")) ?? [];
    // A timer or socket that is left behind would keep the program alive.
    const { stdout, stderr, code } = await run("timeout 9 node examples/embed.mjs");
    expect({ stdout: stdout.toString("utf8"), stderr, code }).toEqual({
      stdout: printed,
      stderr: "",
      code: 0,
    });
  });
});
