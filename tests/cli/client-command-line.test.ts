import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readClientCommandLine } from "../../src/cli/client/command-line.ts";
import { RUN_SHAPES } from "../../src/cli/read-run.ts";
import { temporaryFolder } from "../support/cli.ts";

const read = (...argv: string[]) => readClientCommandLine(argv, RUN_SHAPES, "/home/me");
const words = (...argv: string[]) => read(...argv).argv;

// What the Agent SDKs and claude-agent-acp send, seen on their command lines.
const SDK = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
const OURS = ["--output-format=stream-json", "--verbose", "--input-format=stream-json"];

describe("the command line of a client", () => {
  it("may have values behind a flag or tied to it, also empty ones and such as begin with a dash", () => {
    expect(words(...SDK, "--max-turns", "2", "--system-prompt", "")).toEqual([
      ...OURS,
      "--max-turns=2",
      "--system-prompt=",
    ]);
    expect(words(...SDK, "--max-turns=2", "--setting-sources=", "--system-prompt", "- terse")).toEqual([
      ...OURS,
      "--max-turns=2",
      "--system-prompt=- terse",
    ]);
    expect(words(...SDK, "--setting-sources", "", "--model", "m")).toEqual([...OURS, "--model=m"]);
  });

  it("may have stray empty arguments", () => {
    const { argv, warnings } = read(...SDK, "--verbose", "", "--strict-mcp-config", "");
    expect({ argv, warnings }).toEqual({ argv: [...OURS, "--verbose"], warnings: [] });
  });

  it("may have flags that nobody knows: a warning each, and a value goes with its flag", () => {
    const { argv, warnings } = read(...SDK, "--new-thing", "value", "--other=x", "--flag", "--model", "m");
    expect(argv).toEqual([...OURS, "--model=m"]);
    expect(warnings.map((warning) => warning.split(" ")[0])).toEqual(["--new-thing", "--other", "--flag"]);
  });

  it("a prompt is nobody's value", () => {
    expect(words("-p", "do it", "--new-thing", "value")).toEqual(["-p", "do it"]);
    expect(words("--new-thing", "do it")).toEqual(["do it"]);
    expect(words("--new-thing", "value", "do it")).toEqual(["do it"]);
    expect(words("-p", "--new-thing", "do it")).toEqual(["-p", "do it"]);
    expect(words("-p", "- [ ] a task", "--", "x")).toEqual(["-p", "- [ ] a task", "--", "x"]);
  });

  it("lists may be many words, but do not take the prompt", () => {
    expect(words("-p", "x", "--allowedTools", "Read", "Edit", "--add-dir", "a", "b")).toEqual([
      "-p",
      "x",
      "--allowed-tools=Read,Edit",
      "--add-dir=a",
      "--add-dir=b",
    ]);
    expect(words("--allowedTools", "Read,Edit", "do it")).toEqual(["--allowed-tools=Read,Edit", "do it"]);
  });

  it.each([
    [["--permission-mode", "acceptEdits"], ["--permission-mode=accept-edits"], undefined],
    [["--permission-mode=bypassPermissions"], ["--permission-mode=bypass"], undefined],
    [["--permission-mode", "dontAsk"], ["--permission-mode=default"], "dontAsk"],
    [["--permission-mode=auto"], ["--permission-mode=default"], "auto"],
    [
      ["--permission-mode=dontAsk", "--dangerously-skip-permissions"],
      ["--permission-mode=default", "--dangerously-skip-permissions"],
      undefined,
    ],
  ])("%j: modes have our names, and clients are shown theirs", (argv, expected, shown) => {
    const line = read(...argv);
    expect(line.argv).toEqual(expected);
    expect(line.settings.permissionMode).toBe(shown);
  });

  it.each([
    [["--thinking=adaptive"], ["--thinking=summarized"]],
    [["--thinking", "disabled"], ["--thinking=off"]],
    [["--max-thinking-tokens", "0"], ["--thinking=off"]],
    [["--max-thinking-tokens", "9000"], []],
    [["--effort", "high"], ["--effort=high"]],
    [["--model", "default"], []],
    [["--tools=default"], []],
    [["--tools", ""], ["--tools="]],
    [["--tools", "Bash,WebFetch,Read"], ["--tools=Bash,Read"]],
    [["--debug", "api,hooks"], ["--debug"]],
    [["--debug-file", "x.log"], ["--debug=x.log"]],
    [["--include-partial-messages"], ["--include-partial-messages", "--include-tool-input"]],
    [["--mcp-config", '{"mcpServers":{}}'], []],
    [["--settings", "{}", "--max-budget-usd=5"], ["--max-budget-usd=5"]],
    [["--fallback-model", "attach", "--betas", "a,b", "--agents", "{}", "--plugin-dir=x"], []],
  ])("%j becomes %j", (argv, expected) => {
    expect(words(...SDK, ...argv).slice(OURS.length)).toEqual(expected);
  });

  it.each([
    [["--json-schema", "{}"], "JSON Schema"],
    [["--mcp-config", '{"mcpServers":{"files":{"command":"x"}}}'], "files"],
    [["--mcp-config", "no-such-file.json"], "no-such-file.json"],
    [["--settings", "{"], "no JSON"],
    [["--settings", '{"sandbox":{"enabled":true}}'], "sandbox"],
    [["--settings", '{"hooks":{"PreToolUse":[{}]}}'], "hooks"],
    [["--settings", '{"permissions":{"ask":["Bash"]}}'], "permissions.ask"],
    [["--settings", '{"permissions":{"deny":"Bash"}}'], "permissions.deny"],
    [["--managed-settings", '{"permissions":{"deny":["Bash"]}}'], "--managed-settings"],
    [["--sandbox-mode", "strict"], "--sandbox-mode"],
    [["--resume-session-at", "x"], "--resume-session-at"],
    [["--permission-mode", "whatever"], "whatever"],
  ])("%j is refused, since the run would do more or something else", (argv, named) => {
    expect(() => read(...SDK, ...argv)).toThrow(named);
  });

  it("settings count where no flag says otherwise; what only helps is ignored with a warning", () => {
    const permissions = {
      allow: ["Bash(git log:*)"],
      deny: ["Read(./.env)", "WebFetch"],
      additionalDirectories: ["docs"],
      defaultMode: "acceptEdits",
    };
    const json = JSON.stringify({ permissions, model: "m", env: { A: "1" }, sandbox: { enabled: false } });
    const { argv, warnings } = read("--settings", json);
    expect(argv).toEqual([
      "--model=m",
      "--allowed-tools=Bash(git log:*)",
      "--disallowed-tools=Read(./.env)",
      "--add-dir=docs",
      "--permission-mode=accept-edits",
    ]);
    expect(warnings).toEqual(["--settings: not supported by this version and ignored: env"]);
    expect(words("--settings", json, "--model", "n", "--permission-mode=plan")).not.toContain("--model=m");
    const file = join(temporaryFolder(), "settings.json");
    writeFileSync(file, json);
    expect(words("--settings", file)).toEqual(argv);
  });
});

describe("permission rules of a client", () => {
  const allowed = (...rules: string[]) => words("-p", "x", "--allowedTools", ...rules).at(-1);
  const denied = (...rules: string[]) => words("-p", "x", "--disallowedTools", ...rules).at(-1);

  it("what is about tools that are not here allows nothing, and is no error", () => {
    expect(allowed("Bash", "bash", "shell", "WebSearch", "mcp__files__read", "Task(x)")).toBe(
      "--allowed-tools=Bash",
    );
  });

  it("a tool that is denied in another case is denied", () => {
    expect(denied("bash(rm *)", "READ", "WebSearch")).toBe("--disallowed-tools=Bash(rm *),Read");
  });

  it("paths lie where clients mean them", () => {
    expect(allowed("Read(//etc/hosts)", "Edit(/src/**)", "Read(~/notes/*)", "Read(a/b)")).toBe(
      "--allowed-tools=Read(/etc/hosts),Edit(./src/**),Read(/home/me/notes/*),Read(a/b)",
    );
  });

  it("in doubt more is denied", () => {
    expect(denied("Read(//etc/**)", "Read(/secret)", "Read(.env)", "Edit(./a)")).toBe(
      "--disallowed-tools=Read(/etc/**),Read(/secret),Read(./secret),Read(.env),Read(**/.env),Edit(./a)",
    );
  });
});
