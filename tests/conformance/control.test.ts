import { describe, expect, it } from "vitest";
import { scriptFile } from "../support/cli.ts";
import { bash } from "../support/sessions.ts";
import { Client, prompt } from "./client.ts";

const ASKING = ["--permission-prompt-tool=stdio"];
const RETRYABLE = { code: "overloaded" as const, retryable: true, retry_after_ms: 30_000 };
const interrupted = {
  subtype: "error_during_execution",
  is_error: true,
  errors: [expect.stringContaining("interrupted")],
};

/** After an interruption everything is as it was: the next prompt has its answer, and the end is a good one. */
async function expectNextTurn(client: Client, text: string): Promise<void> {
  client.say(prompt("and now?"));
  expect(await client.until("result", 2)).toMatchObject({ is_error: false, result: text });
  expect(await client.finish()).toEqual({ code: 0, signal: null });
}

describe("interrupt", () => {
  it.each([
    [
      "while the model writes",
      [{ content: [{ type: "text" as const, text: "Once upon" }], stall: true as const }],
      "stream_event",
    ],
    ["while a tool runs", [bash("sleep 60")], "assistant"],
    ["during the wait before a retry", [{ fault: RETRYABLE }], "system/api_retry"],
  ])("%s: the turn ends in a result, and the next prompt works", async (_when, answers, sign) => {
    const flags = ["--include-partial-messages", "--allowedTools=Bash"];
    const client = new Client([...flags, "--fake", scriptFile([...answers, "Later."])]);
    client.say(prompt("go"));
    await client.until(sign);
    expect(await client.request({ subtype: "interrupt" })).toMatchObject({ response: { still_queued: [] } });
    expect(await client.until("result")).toMatchObject(interrupted);
    await expectNextTurn(client, "Later.");
  });

  it("during a question: it is withdrawn, and an answer that comes too late changes nothing", async () => {
    const client = new Client([...ASKING, "--fake", scriptFile([bash("echo x"), "Later."])]);
    client.say(prompt("go"));
    const question = await client.until("control_request");
    await client.request({ subtype: "interrupt" });
    expect(await client.until("control_cancel_request")).toMatchObject({
      request_id: question["request_id"],
    });
    expect(await client.until("result")).toMatchObject(interrupted);
    client.decide(question, { behavior: "allow", updatedInput: {} });
    await expectNextTurn(client, "Later.");
  });

  it("before the first prompt: there is nothing to end", async () => {
    const client = new Client(["--fake", scriptFile(["Hello."])]);
    expect(await client.request({ subtype: "interrupt" })).toMatchObject({ subtype: "success" });
    client.say(prompt("hi"));
    expect(await client.until("result")).toMatchObject({ is_error: false, result: "Hello." });
    expect((await client.finish()).code).toBe(0);
  });
});

describe("requests", () => {
  it("each has an answer, also when nobody knows it or it is wrong; the run goes on", async () => {
    const client = new Client(["--fake", scriptFile(["Hello."])]);
    expect(await client.request({ subtype: "rewind_files" })).toMatchObject({
      subtype: "error",
      error: expect.stringContaining("rewind_files"),
    });
    expect(await client.request({ subtype: "set_permission_mode", mode: "whatever" })).toMatchObject({
      subtype: "error",
    });
    expect(await client.request({})).toMatchObject({ subtype: "error" });
    const long = await client.request({ subtype: "x".repeat(2 * 1024 * 1024) });
    expect(long).toMatchObject({ subtype: "error" });
    expect(JSON.stringify(long).length).toBeLessThan(3000);
    expect(await client.request({ subtype: "mcp_status" })).toMatchObject({ response: { mcpServers: [] } });
    client.say({ type: "control_cancel_request", request_id: "nobody" });
    client.say({ type: "from_the_future" });
    client.say("this is no JSON\n");
    client.say(prompt("hi"));
    await client.until("result/success");
    expect((await client.finish()).code).toBe(0);
    expect(client.stderr.trimEnd().split("\n")).toHaveLength(2);
  });

  it("a second initialize is answered like the first", async () => {
    const client = new Client(["--fake", scriptFile(["Hello."])]);
    for (const hooks of [null, {}])
      expect(await client.request({ subtype: "initialize", hooks })).toMatchObject({ subtype: "success" });
    expect((await client.finish()).code).toBe(0);
    expect(client.all("result")).toEqual([]);
  });

  it("model and mode change with the next turn", async () => {
    const client = new Client([...ASKING, "--fake", scriptFile(["One.", bash("echo ran"), "Two."])]);
    client.say(prompt("a"));
    await client.until("result");
    expect(await client.request({ subtype: "set_model", model: "other" })).toMatchObject({
      subtype: "success",
    });
    expect(await client.request({ subtype: "set_permission_mode", mode: "bypassPermissions" })).toMatchObject(
      {
        response: { mode: "bypassPermissions" },
      },
    );
    client.say(prompt("b"));
    await client.until("result", 2);
    await client.finish();
    expect(client.all("system/init")[1]).toMatchObject({
      model: "other",
      permissionMode: "bypassPermissions",
    });
    expect(client.all("control_request")).toEqual([]);
  });

  it.each([
    [
      "hooks that may hold something back",
      { hooks: { PreToolUse: [{ hookCallbackIds: ["hook_0"] }] } },
      "PreToolUse",
    ],
    ["MCP servers", { sdkMcpServers: ["conf"] }, "sdkMcpServers"],
    ["answers by a schema", { jsonSchema: { type: "object" } }, "jsonSchema"],
  ])("%s are refused: in the answer, and in the result of the prompt", async (_what, asked, words) => {
    const client = new Client(["--fake", scriptFile(["Never."])]);
    const refusal = client.request({ subtype: "initialize", ...asked });
    client.say(prompt("hi"));
    expect(await refusal).toMatchObject({ subtype: "error", error: expect.stringContaining(words) });
    expect(await client.until("result")).toMatchObject({
      is_error: true,
      errors: [expect.stringContaining(words)],
    });
    expect((await client.finish()).code).toBe(1);
  });
});
