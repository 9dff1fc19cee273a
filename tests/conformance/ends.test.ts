import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scriptFile, temporaryFolder } from "../support/cli.ts";
import { bash } from "../support/sessions.ts";
import { Client, prompt } from "./client.ts";

const ASKING = ["--permission-prompt-tool=stdio"];
const MEBIBYTE = 1024 * 1024;

describe("the end of a client's run", () => {
  it("without a prompt: nothing is said, exit code 0", async () => {
    const client = new Client(["--fake", scriptFile(["Never."])]);
    expect(await client.finish()).toEqual({ code: 0, signal: null });
    expect([client.lines, client.stderr]).toEqual([[], ""]);
  });

  it("stdin is closed in the middle of a question: nobody can answer, so it is denied, and the turn ends well", async () => {
    const client = new Client([...ASKING, "--fake", scriptFile([bash("echo x"), "Then not."])]);
    client.say(prompt("go"));
    await client.until("control_request");
    expect((await client.finish()).code).toBe(0);
    expect(client.lines.at(-1)).toMatchObject({
      result: "Then not.",
      permission_denials: [{ tool_name: "Bash" }],
    });
  });

  it("a denial that ends the turn is a result that is an error, exit code 1", async () => {
    const client = new Client([...ASKING, "--fake", scriptFile([bash("echo x"), "Never."])]);
    client.say(prompt("go"));
    const question = await client.until("control_request");
    client.decide(question, { behavior: "deny", message: "stop", interrupt: true });
    await client.until("result");
    expect((await client.finish()).code).toBe(1);
    expect(client.lines.at(-1)).toMatchObject({ type: "result", is_error: true });
  });

  it("SG-01: a signal during a question: its result, then the signal", async () => {
    const client = new Client([...ASKING, "--fake", scriptFile([bash("echo x"), "Never."])]);
    client.say(prompt("go"));
    await client.until("control_request");
    client.child.kill("SIGTERM");
    expect(await client.end()).toEqual({ code: null, signal: "SIGTERM" });
    expect(client.lines.at(-1)).toMatchObject({ type: "result", is_error: true });
  });

  it("the folders of other products are left alone, and their settings unread", async () => {
    const home = temporaryFolder();
    const config = join(home, "config");
    const client = new Client(["--fake", scriptFile([bash("pwd"), "Hello."])], {
      env: { HOME: home, CLAUDE_CONFIG_DIR: config },
      cwd: home,
    });
    client.say(prompt("hi"));
    await client.finish();
    expect(client.lines.at(-1)).toMatchObject({ type: "result", is_error: false });
    expect([existsSync(config), readdirSync(home)]).toEqual([false, []]);
  });
});

describe("long lines of a client", () => {
  it("CO-01: a prompt of 9 MiB is answered, and what comes back has no line of 1 MiB", async () => {
    const script = scriptFile([{ content: [{ type: "text", text: "é".repeat(MEBIBYTE) }] }]);
    const client = new Client(["--replay-user-messages", "--fake", script]);
    client.say(prompt("x".repeat(9 * MEBIBYTE)));
    await client.until("result");
    await client.finish();
    expect(client.lines.at(-1)).toMatchObject({ is_error: false });
    const lengths = client.stdout
      .toString("latin1")
      .split("\n")
      .map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThan(MEBIBYTE);
  });

  it("one that is too long has an answer as well: a result for a prompt, an error for a request", async () => {
    const client = new Client(["--fake", scriptFile(["Hello."])]);
    const much = "x".repeat(11 * MEBIBYTE);
    expect(await client.request({ subtype: "initialize", appendSystemPrompt: much })).toMatchObject({
      subtype: "error",
      error: expect.stringContaining("10 MiB"),
    });
    client.say(prompt(much));
    expect(await client.until("result")).toMatchObject({ is_error: true });
    client.say(prompt("hi"));
    expect(await client.until("result", 2)).toMatchObject({ is_error: false, result: "Hello." });
    expect((await client.finish()).code).toBe(0);
  });
});
