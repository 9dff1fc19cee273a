import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli, scriptFile, temporaryFolder } from "../support/cli.ts";
import { bash, newState } from "../support/sessions.ts";
import { Client, prompt } from "./client.ts";

/** The fields that the SDK for Python raises without. */
const PYTHON_RESULT = ["subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"];

it("the SDK for TypeScript: the prompt comes without waiting for an answer, stdin ends with the result", async () => {
  const script = scriptFile(["Hello."]);
  const client = new Client(
    ["--max-turns=2", "--allowedTools=Read", "--setting-sources=", "--fake", script],
    {
      env: { CLAUDE_CODE_ENTRYPOINT: "sdk-ts", CLAUDE_AGENT_SDK_VERSION: "0.3.332" },
    },
  );
  client.say({
    request_id: "45fq62ny1ov",
    type: "control_request",
    request: { subtype: "initialize", systemPrompt: [""] },
  });
  client.say(prompt([{ type: "text", text: "hi" }]));
  const result = await client.until("result");
  expect(await client.finish()).toEqual({ code: 0, signal: null });
  expect(client.kinds).toEqual(["control_response", "system/init", "assistant", "result/success"]);
  expect(await client.answerTo("45fq62ny1ov")).toMatchObject({
    subtype: "success",
    response: { commands: [], agents: [], account: {}, output_style: "default" },
  });
  expect(result).toMatchObject({ is_error: false, result: "Hello.", permission_denials: [] });
  expect(result["usage"]).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  expect(client.stderr).toBe("");
});

it("the SDK for Python: asks for the version, waits for initialize, then goes on turn by turn", async () => {
  expect((await runCli(["-v"])).stdout.toString()).toMatch(/^\d+\.\d+\.\d+/);
  const flags = ["--system-prompt", "", "--max-turns", "2", "--setting-sources", ""];
  const client = new Client([...flags, "--fake", scriptFile(["One.", "Two."])]);
  // Before any prompt.
  expect(await client.request({ subtype: "initialize", hooks: null })).toMatchObject({ subtype: "success" });
  for (const [index, text] of ["One.", "Two."].entries()) {
    client.say(prompt("hi"));
    const result = await client.until("result", index + 1);
    expect(result["result"]).toBe(text);
    expect(PYTHON_RESULT.filter((field) => !(field in result))).toEqual([]);
  }
  expect(await client.finish()).toEqual({ code: 0, signal: null });
  expect(client.kinds.filter((kind) => kind === "system/init")).toHaveLength(2);
  expect(client.all("assistant").map(({ message }) => message)).toMatchObject([
    { model: "fake", content: [{ type: "text" }] },
    { model: "fake", content: [{ type: "text" }] },
  ]);
});

it("raw callers: no initialize, a message of two fields, a stray argument, prompts that wait for their turn", async () => {
  const client = new Client(
    ["--replay-user-messages", "", "--fake", scriptFile(["One.", "Two.", "Three."])],
    {
      env: { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" },
    },
  );
  client.say({ type: "user", message: { role: "user", content: "a" } });
  client.say(prompt([{ type: "text", text: "b" }], { uuid: "5cc1ff4f-6d3a-4d5c-8d5a-0d6b2f3f3b11" }));
  client.say(prompt("c"));
  expect((await client.finish()).code).toBe(0);
  const turn = ["system/init", "user", "assistant", "result/success"];
  const state = "system/session_state_changed";
  expect(client.kinds).toEqual([state, ...turn, ...turn, ...turn, state]);
  expect(client.all("result").map(({ result }) => result)).toEqual(["One.", "Two.", "Three."]);
  expect(client.all("user")[1]).toMatchObject({
    isReplay: true,
    uuid: "5cc1ff4f-6d3a-4d5c-8d5a-0d6b2f3f3b11",
  });
  expect(client.all(state).map((line) => line["state"])).toEqual(["running", "idle"]);
  expect(new Set(client.lines.map((line) => line["session_id"])).size).toBe(1);
});

it("a call is asked about, may be changed, denied with a reason, and is told of in the result", async () => {
  const script = scriptFile([bash("echo model"), bash("echo other"), "Done."]);
  const client = new Client(["--permission-prompt-tool", "stdio", "--fake", script], {
    env: { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" },
  });
  client.say(prompt("go"));
  const first = await client.until("control_request/can_use_tool");
  expect(first["request"]).toMatchObject({ tool_name: "Bash", input: { command: "echo model" } });
  client.decide(first, { behavior: "allow", updatedInput: { command: "echo client" } });
  const second = await client.until("control_request/can_use_tool", 2);
  client.decide(second, { behavior: "deny", message: "not that one" });
  const result = await client.until("result");
  expect((await client.finish()).code).toBe(0);
  const contents = client.all("user").map(({ message }) => Reflect.get(Object(message), "content"));
  expect(contents).toMatchObject([
    [{ type: "tool_result", is_error: false, content: expect.stringContaining("client") }],
    [{ type: "tool_result", is_error: true, content: expect.stringContaining("not that one") }],
  ]);
  expect(result["permission_denials"]).toMatchObject([
    { tool_name: "Bash", tool_input: { command: "echo other" } },
  ]);
  const states = client.all("system/session_state_changed").map((line) => line["state"]);
  expect(states).toEqual(["running", "requires_action", "running", "requires_action", "running", "idle"]);
});

it("rules that come with an answer or with initialize hold from then on, as the client writes them", async () => {
  const home = temporaryFolder();
  const read = (path: string) => ({
    content: [{ type: "tool_use" as const, name: "Read", input: { file_path: join(home, path) } }],
  });
  const script = scriptFile([bash("echo a"), bash("echo b"), read("late/a"), read("early/a"), "Done."]);
  const client = new Client(["--permission-prompt-tool", "stdio", "--fake", script], { env: { HOME: home } });
  const disallowedTools = ["Read(~/early/**)"];
  expect(await client.request({ subtype: "initialize", disallowedTools })).toMatchObject({
    response: { disallowed_tools_applied: true },
  });
  client.say(prompt("go"));
  const rules = (behavior: string, toolName: string, ruleContent: string) => ({
    type: "addRules",
    behavior,
    rules: [{ toolName, ruleContent }],
    destination: "session",
  });
  client.decide(await client.until("control_request"), {
    behavior: "allow",
    updatedInput: { command: "echo a" },
    updatedPermissions: [
      rules("allow", "Bash", "echo:*"),
      rules("deny", "read", "~/late/**"),
      rules("allow", "WebSearch", "x"),
      { type: "fromTheFuture" },
    ],
  });
  await client.until("result");
  await client.finish();
  expect(client.all("control_request")).toHaveLength(1);
  expect(client.lines.at(-1)?.["permission_denials"]).toMatchObject([
    { tool_name: "Read", tool_input: { file_path: join(home, "late/a") } },
    { tool_name: "Read", tool_input: { file_path: join(home, "early/a") } },
  ]);
  expect(client.stderr.trimEnd().split("\n")).toEqual([expect.stringContaining("fromTheFuture")]);
});

it("sessions are resumed, forked and named by those who start the process", async () => {
  const state = newState();
  const id = "2f1d3c52-6f0c-4a5a-9a3e-0a4a2f9c7e10";
  const turn = async (flags: readonly string[]) => {
    const client = new Client([...flags, "--fake", scriptFile(["Hello."])], { state });
    client.say(prompt("hi"));
    await client.finish();
    return client.lines.at(-1);
  };
  expect(await turn(["--session-id", id])).toMatchObject({ session_id: id, is_error: false });
  expect(await turn(["--resume", id])).toMatchObject({ session_id: id, is_error: false });
  const fork = await turn([`--resume=${id}`, "--fork-session"]);
  expect(fork).toMatchObject({ is_error: false });
  expect(fork?.["session_id"]).not.toBe(id);
  const unknown = await turn(["--resume", "00000000-0000-4000-8000-000000000000"]);
  expect(unknown).toMatchObject({ type: "result", is_error: true });
});
