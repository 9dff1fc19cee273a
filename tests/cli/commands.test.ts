import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CLI, runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";

const TOOLS = "examples/streams/tools.jsonl";
const text = (run: { stdout: Buffer }) => run.stdout.toString("utf8");

/** A file in a folder of its own. */
function fileOf(content: string): string {
  const path = join(temporaryFolder(), "run.jsonl");
  writeFileSync(path, content);
  return path;
}

describe("schema", () => {
  it.each([[[]], [["event"]], [["result"]], [["script"]], [["input"]]])(
    "%s is the published file",
    async (words) => {
      const run = await runCli(["schema", ...words]);
      expect(run.code).toBe(0);
      expect(text(run)).toBe(readFileSync(`schemas/${words[0] ?? "event"}.json`, "utf8"));
    },
  );

  it("--list names every schema, each with what it describes", async () => {
    const names = text(await runCli(["schema", "--list"]))
      .trimEnd()
      .split("\n");
    expect(names.map((line) => line.replace(/ .*/, "")).toSorted()).toEqual(
      readdirSync("schemas")
        .map((file) => file.replace(".json", ""))
        .toSorted(),
    );
    expect(names.filter((line) => !/^\w+ {2,}\S/.test(line))).toEqual([]);
  });

  it("says which one was meant", async () => {
    const run = await runCli(["schema", "reslt"]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("result?") as string });
    expect(text(run)).toBe("");
  });
});

describe("check", () => {
  it.each(readdirSync("examples/streams").filter((file) => file.endsWith(".jsonl")))(
    "%s is faultless",
    async (file) => {
      const run = await runCli(["check", join("examples/streams", file)]);
      expect(text(run)).toMatch(/^\S+: ok, \d+ lines?, \d+ runs?\n$/);
      expect(run).toMatchObject({ code: 0, stderr: "" });
    },
  );

  const lines = readFileSync(TOOLS, "utf8").split("\n").slice(0, -1);
  const edited = (edit: (lines: string[]) => string[]) =>
    fileOf(
      edit([...lines])
        .map((line) => `${line}\n`)
        .join(""),
    );
  const replaced = (pattern: RegExp, by: string) => (all: string[]) => {
    const at = all.findIndex((line) => pattern.test(line));
    expect(at).toBeGreaterThanOrEqual(0);
    return all.with(at, (all[at] ?? "").replace(pattern, by));
  };

  it.each([
    ["a banner", (all: string[]) => ["hello", ...all], /:1: not JSON/],
    ["a missing line", (all: string[]) => all.toSpliced(3, 1), /:4: seq is 5, expected 4/],
    ["a doubled line", (all: string[]) => all.toSpliced(3, 0, all[3] ?? ""), /:5: seq is 4, expected 5/],
    ["a missing last word", (all: string[]) => all.slice(0, -1), /: the stream ends without a `result`/],
    ["a changed delta", replaced(/"text":"ok at/, '"text":"ko at'), /: .*delta/],
    ["a wrong type", replaced(/"block":1/, '"block":"1"'), /block/],
    ["a missing field", replaced(/"stop_reason":"end_turn",/, ""), /stop_reason/],
    [
      "a total that is no sum",
      replaced(/"usage":\{"input_tokens":3297/, '"usage":{"input_tokens":3298'),
      /usage|tokens/,
    ],
    [
      "keys out of order",
      replaced(/^\{"type":"init","seq":1,/, '{"seq":1,"type":"init",'),
      /:1: the line does not begin/,
    ],
    ["a blank line", (all: string[]) => all.toSpliced(2, 0, ""), /:3: a blank line/],
    ["CRLF", (all: string[]) => all.map((line) => `${line}\r`), /:1: CRLF/],
    ["a byte order mark", (all: string[]) => all.with(0, `\u{feff}${all[0]}`), /:1: a byte order mark/],
    ["a raw line separator", replaced(/ok at/, "ok\u2028at"), /not escaped/],
    ["half a surrogate pair", replaced(/ok at/, String.raw`\ud83d at`), /surrogate/],
  ])("finds %s", async (_name, edit, message) => {
    const file = edited(edit);
    const run = await runCli(["check", file]);
    expect(run.code).toBe(1);
    expect(text(run)).toMatch(message);
    expect(text(run)).toMatch(/: \d+ faults?, \d+ lines?, [01] runs?\n$/);
    // Every fault stands where an editor can go.
    expect(
      text(run)
        .split("\n")
        .slice(0, -2)
        .filter((line) => !/^.*\.jsonl:\d+: \S/.test(line)),
    ).toEqual([]);
  });

  it("takes what a later version may add for no fault", async () => {
    const denied = readFileSync("examples/streams/denied.jsonl", "utf8");
    const later = denied
      .replace('"type":"notice"', '"type":"hologram"')
      .replaceAll(/^(\{"type":"init".*)\}$/gm, '$1,"mood":"good"}')
      .replace('"stop_reason":"end_turn"', '"stop_reason":"bored"');
    const run = await runCli(["check", "--output-format", "json"], { stdin: later });
    expect(JSON.parse(text(run))).toMatchObject({ ok: true, unknown_events: 1, faults: [] });
  });

  it("reads a stream from a pipe, and reports as one object", async () => {
    const script = scriptFile(["Hello."]);
    const run = await runShell(
      `$LINEFEED -p hi --fake ${script} --json | $LINEFEED --output-format json check`,
    );
    expect(JSON.parse(text(run))).toMatchObject({
      file: "stdin",
      ok: true,
      runs: 1,
      fault_count: 0,
      faults: [],
    });
    expect(run.code).toBe(0);
  });

  it("FR-12: reports what it quotes of a bad line on one line, whoever splits it", async () => {
    const run = await runCli(["check", "--output-format", "json"], {
      stdin: "oops \u2028 \u0085 \ufeff x\n",
    });
    expect(text(run)).not.toMatch(/[\u0085\u2028\ufeff]/);
    expect(text(run)).toContain("oops \\u2028");
  });

  it("finds an empty stream", async () => {
    expect((await runCli(["check"])).code).toBe(1);
  });
});

describe("view", () => {
  it("shows a stream as the run itself would have", async () => {
    const live = await runCli([
      "-p",
      "hi",
      "--fake",
      "examples/scripts/hello.json",
      "--output-format",
      "pretty",
    ]);
    const viewed = await runShell(
      `$LINEFEED -p hi --fake examples/scripts/hello.json --json | $LINEFEED view`,
    );
    const withoutTimes = (shown: string) => shown.replaceAll(/\d+(\.\d+)? m?s/g, "t");
    expect(withoutTimes(text(viewed))).toBe(withoutTimes(text(live)));
    expect(viewed).toMatchObject({ code: 0, stderr: "" });
  });

  it("hands on as jsonl what it reads, types of later versions too", async () => {
    const lines = readFileSync(TOOLS, "utf8").replace('"type":"notice"', '"type":"hologram"');
    const run = await runCli(["view", "--output-format", "jsonl"], { stdin: lines });
    expect(text(run)).toBe(lines);
  });

  it("converts to text and json", async () => {
    const result = readFileSync(TOOLS, "utf8").trimEnd().split("\n").at(-1) ?? "";
    expect(text(await runCli(["view", TOOLS, "--output-format", "json"]))).toBe(`${result}\n`);
    expect(text(await runCli(["view", TOOLS, "--output-format", "text"]))).toBe(
      "This is 2.4.1, and all 12 tests pass.\n",
    );
  });

  it("exits with 0 once it has read all, or as the run did with --exit-code", async () => {
    const script = scriptFile([{ fault: { code: "overloaded", http_status: 529, retryable: true } }]);
    const failed = await runShell(`$LINEFEED -p hi --max-retries 0 --fake ${script} --json`);
    for (const [words, code] of [
      [["view"], 0],
      [["view", "--exit-code"], 75],
    ] as const) {
      expect(await runCli(words, { stdin: text(failed) })).toMatchObject({ code, stderr: "" });
    }
  });

  it("shows the streams of other agents, detected or named", async () => {
    const file = "tests/fixtures/dialects/codex-tools.jsonl";
    const shown = await runCli(["view", file]);
    expect(text(shown)).toMatch(/^◆ codex\n[^]*● Step 1: running a tool\.[^]*echo hi[^]*✔ ok[^]*✔ done/);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    const piped = await runShell(`cat ${file} | $LINEFEED view --from codex --output-format text`);
    expect(text(piped)).toBe("All steps are done.\n");
    const checked = await runShell(`$LINEFEED view ${file} --output-format jsonl | $LINEFEED check`);
    expect(checked.code).toBe(0);
  });

  it("exits as another agent's run ended, in our numbers", async () => {
    const failed = ["--output-format", "json", "tests/fixtures/dialects/codex-events.jsonl"];
    const run = await runCli(["view", "--exit-code", ...failed]);
    const [ok, error] = text(run)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect([ok, error]).toMatchObject([
      { exit_code: 0 },
      { exit_code: 1, error: { code: "authentication" } },
    ]);
    expect(run).toMatchObject({ code: 1, stderr: "" });
    expect(await runCli(["view", ...failed])).toMatchObject({ code: 0 });
  });

  it("says so when another agent's stream has no last word, and closes it all the same", async () => {
    const cut = readFileSync("tests/fixtures/dialects/claude-tools.jsonl", "utf8").slice(0, -3000);
    const run = await runCli(["view", "--output-format", "jsonl"], { stdin: cut });
    expect(run).toMatchObject({ code: 1, stderr: expect.stringMatching(/without a result/) as string });
    const checked = await runCli(["check"], { stdin: text(run) });
    expect(text(checked)).toMatch(/: ok, \d+ lines, 1 run\n$/);
    const last = JSON.parse(text(run).trimEnd().split("\n").at(-1) ?? "") as object;
    expect(last).toMatchObject({ type: "result", synthetic: true, error: { code: "stream_interrupted" } });
  });

  it("shows lines that are no events, and goes on", async () => {
    const stream = readFileSync(TOOLS, "utf8");
    const pretty = await runCli(["view"], { stdin: `npm warn old\n${stream}` });
    expect(text(pretty)).toContain("npm warn old");
    expect(text(pretty)).toContain("all 12 tests pass");
    expect(pretty.code).toBe(0);
    const answer = await runCli(["view", "--output-format", "text"], { stdin: `npm warn old\n${stream}` });
    expect(text(answer)).toBe("This is 2.4.1, and all 12 tests pass.\n");
    expect(answer.stderr).toContain("npm warn old");
  });

  it("says so when a stream has no last word", async () => {
    const cut = readFileSync(TOOLS, "utf8").slice(0, -500);
    const run = await runCli(["view"], { stdin: cut });
    expect(run).toMatchObject({ code: 1, stderr: expect.stringMatching(/without a result/) as string });
  });

  it("-f waits for what is appended, in any pieces, and ends with the run", async () => {
    const bytes = readFileSync(TOOLS);
    const file = fileOf("");
    const run = runCli(["view", "-f", file, "--output-format", "jsonl"]);
    for (let at = 0; at < bytes.length; at += 2000) {
      appendFileSync(file, bytes.subarray(at, at + 2000));
      await delay(10);
    }
    expect((await run).stdout.equals(bytes)).toBe(true);
    expect((await run).code).toBe(0);
  });

  it("-f goes on to the next run of a log that is there already", async () => {
    const file = fileOf("");
    const run = await runShell(
      `cat ${TOOLS} ${TOOLS} > ${file}; $LINEFEED view -f ${file} --output-format text`,
    );
    expect(text(run)).toBe("This is 2.4.1, and all 12 tests pass.\n".repeat(2));
  });

  it("-f ends by the signal that it gets", async () => {
    const file = fileOf(readFileSync(TOOLS, "utf8").split("\n").slice(0, 5).join("\n"));
    const run = await runCli(["view", "-f", file], {
      during: (child) => child.stdout?.once("data", () => child.kill("SIGINT")),
    });
    expect(run.signal).toBe("SIGINT");
    expect(run.stderr).toBe("");
  });

  it("ends quietly when its reader has gone", async () => {
    const run = await runShell(
      `${process.execPath} ${CLI} view ${TOOLS} | head -1; echo \${PIPESTATUS[0]} >&2`,
    );
    expect(run.stderr).toBe("141\n");
  });
});

describe("any command", () => {
  it.each([
    ["a file that is not there", ["view", "no/such/file"], 1, /no\/such\/file cannot be read/],
    ["two files", ["check", TOOLS, TOOLS], 2, /one stream/],
    ["an option that is none", ["check", "--frobnicate"], 2, /unknown option.*See linefeed check --help/],
    ["a word that is none", ["view", TOOLS, "--output-format", "xml"], 2, /Choose one of/],
    ["-f without a file", ["view", "-f"], 2, /follows a file/],
  ])("refuses %s in words", async (_name, words, code, message) => {
    const run = await runCli(words);
    expect(run.code).toBe(code);
    expect(run.stderr).toMatch(message);
    expect(run.stderr).toMatch(/^linefeed: .*\n$/);
    expect(text(run)).toBe("");
  });

  it.each(["view", "check", "schema"])("%s has a help of its own", async (name) => {
    const run = await runCli([name, "--help"]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(text(run)).toMatch(new RegExp(`^Usage: linefeed ${name} `));
    expect(text(run)).toContain("Examples:");
  });

  it("is a prompt behind -p", async () => {
    const run = await runCli(["-p", "check", "--fake", scriptFile(["Hello."])]);
    expect(text(run)).toBe("Hello.\n");
  });
});
