import { describe, expect, expectTypeOf, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import {
  runAgent,
  type AgentRun,
  type EventOf,
  type RunAgentOptions,
  type StreamEvent,
} from "../../src/consume/index.ts";
import { FLAGS, flagWords } from "../../src/consume/run-flags.ts";

/** Options of the command line that are no option by name, and why. */
const WITHOUT_NAME = {
  "--print": "the prompt goes through stdin",
  "--no-stdin": "the prompt goes through stdin",
  "--output-format": "it is jsonl",
  "--input-format": "it is jsonl",
  "--json": "it is jsonl",
  "--cwd": "the process starts there",
  "--max-turns": "another name of --max-steps",
  "--system-prompt-file": "the program can read the file",
  "--append-system-prompt-file": "the program can read the file",
  "--dangerously-skip-permissions": "permissionMode says it",
  "--replay-user-messages": "it is of stream-json input",
  "--permission-prompt-tool": "it is of stream-json input",
  "--version": "it is no run",
  "--store": "its password would be an argument, which others can read; LINEFEED_STORE in `env` names it",
  "--bg": "the process is the program's own; `linefeed --bg` prints an id and ends",
  "--keep-open": "it waits for `linefeed send`; `keepOpen` waits for the program itself",
};

describe("the options of runAgent", () => {
  it("are those of the command line", () => {
    const visible = runCommand().options.filter(({ hidden }) => !hidden);
    const longs = [...visible.map(({ long }) => long ?? ""), "--max-turns"];
    const named = Object.values(FLAGS).map(([flag]) => flag);
    expect([...named, ...Object.keys(WITHOUT_NAME)].toSorted()).toEqual([...new Set(longs)].toSorted());
  });

  it("become words of the command line, which cannot be taken for other options", () => {
    const words = flagWords({
      model: "--version",
      maxSteps: 3,
      timeoutMs: 1500,
      tools: ["Read", "Grep"],
      allowedTools: ["Bash(git log *)", "Read"],
      bare: true,
      failOnDenied: false,
      deltas: false,
      heartbeatMs: 0,
      addDirs: undefined,
    });
    expect(words.toSorted()).toEqual([
      "--allowed-tools=Bash(git log *)",
      "--allowed-tools=Read",
      "--bare",
      "--heartbeat=0ms",
      "--max-steps=3",
      "--model=--version",
      "--no-deltas",
      "--timeout=1500ms",
      "--tools=Read,Grep",
    ]);
    expect(flagWords({ tools: [], deltas: true })).toEqual(["--tools="]);
  });

  it("are understood by the command line, each of them", () => {
    const words = flagWords({
      model: "m",
      provider: "fake",
      baseUrl: "http://localhost",
      fake: "file.json",
      replaySpeed: 2,
      record: "out.json",
      maxTokens: 1,
      effort: "low",
      thinking: "off",
      maxRetries: 0,
      systemPrompt: "-a",
      appendSystemPrompt: "b",
      bare: true,
      tools: [],
      allowedTools: ["Read"],
      disallowedTools: ["Bash"],
      permissionMode: "accept-edits",
      addDirs: ["."],
      failOnDenied: true,
      keepChildren: true,
      maxSteps: 0,
      maxBudgetTokens: 1,
      maxBudgetUsd: 0.5,
      timeoutMs: 1,
      toolTimeoutMs: 0.5,
      idleTimeoutMs: 1000,
      stopOnError: true,
      coalesceMs: 0,
      deltas: false,
      includeToolInput: true,
      heartbeatMs: 0,
      drainTimeoutMs: 0,
      deterministic: true,
      debug: "log",
      resume: "deploy",
      continue: true,
      forkSession: true,
      force: true,
      sessionId: "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97",
      name: "-n",
      sessionPersistence: false,
      remoteControl: true,
      retainMs: 90_000,
      retainLines: 1000,
    });
    expect(words).toHaveLength(Object.keys(FLAGS).length);
    const command = runCommand().exitOverride();
    command.parse(words, { from: "user" });
    expect(command.opts()).toMatchObject({
      toolTimeout: 0.5,
      systemPrompt: "-a",
      tools: [""],
      deltas: false,
      resume: "deploy",
      name: "-n",
      sessionPersistence: false,
      retain: 90_000,
    });
  });
});

describe("the types of runAgent", () => {
  it("follow what becomes of invalid lines", () => {
    type Run = (options: RunAgentOptions) => AgentRun;
    expectTypeOf(runAgent).toExtend<Run>();
    const skipping = () => runAgent({ prompt: "x", onInvalid: "skip" });
    const yielding = () => runAgent({ prompt: "x" });
    expectTypeOf(skipping).returns.toEqualTypeOf<AgentRun<StreamEvent>>();
    expectTypeOf(yielding).returns.toEqualTypeOf<AgentRun>();
    expectTypeOf<AgentRun["result"]>().toEqualTypeOf<Promise<EventOf<"result">>>();
    expectTypeOf<AgentRun>().toExtend<AsyncDisposable>();
  });
});
