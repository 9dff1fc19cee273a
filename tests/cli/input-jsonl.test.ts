import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { ofType, resultOf, runCli, runShell, scriptFile, type CliRun } from "../support/cli.ts";
import { user } from "../support/conversation.ts";
import { lint } from "../support/lint.ts";
import { provider, providerEnv } from "../support/provider.ts";

const MIB = 1024 * 1024;
const JSONL = ["--input-format", "jsonl"];
const answers = () => scriptFile(["one", "two", "three", "four"]);

async function runLines(input: string | Buffer, args: string[] = [], script = answers()): Promise<CliRun> {
  const run = await runCli([...JSONL, "--json", "--fake", script, ...args], { stdin: input });
  expect(lint(run.stdout), run.stderr).toEqual([]);
  expect(run.code).toBe(resultOf(run).exit_code);
  return run;
}

const promptsOf = (run: CliRun) => ofType(run.events, "turn_start").map((event) => event.prompt);
const errorsOf = (run: CliRun) => ofType(run.events, "turn_end").map((event) => event.error?.message ?? null);

describe("several prompts", () => {
  it("are answered in turn, each with what was said before; the result comes last", async () => {
    const server = await provider(answer().text("Jupiter.").done(), answer().text("97.").done());
    const run = await runCli([...JSONL, "--json", "--no-deltas"], {
      stdin: user("the largest planet?") + user("its moons?"),
      env: providerEnv(server),
    });
    expect(lint(run.stdout)).toEqual([]);
    expect(ofType(run.events, "turn_end").map(({ turn, status }) => [turn, status])).toEqual([
      [1, "ok"],
      [2, "ok"],
    ]);
    expect(resultOf(run)).toMatchObject({ status: "ok", exit_code: 0, text: "97.", turns: 2, steps: 2 });
    expect(messagesOf(server.requests[1])).toEqual([
      ["user", "the largest planet?"],
      ["assistant", "Jupiter."],
      ["user", "its moons?"],
    ]);
  });

  it("begin with the one on the command line", async () => {
    expect(promptsOf(await runLines(user("second"), ["-p", "first"]))).toEqual(["first", "second"]);
    expect(promptsOf(await runLines("", ["-p", "first"]))).toEqual(["first"]);
    expect(promptsOf(await runLines(user("only"), ["-"]))).toEqual(["only"]);
  });

  it("CO-06, CO-07: may stand in lines of any kind", async () => {
    const lines = `\ufeff${user("a")}\n  \r\n${user("b").replace("\n", "\r\n")}\ufeff${user("c \u2028 😀").trimEnd()}`;
    expect(promptsOf(await runLines(lines))).toEqual(["a", "b", "c \u2028 😀"]);
  });

  it("hold images, which reach the provider", async () => {
    const server = await provider(answer().text("A pixel.").done());
    const content = [
      { type: "text", text: "what is this?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
    ];
    const run = await runCli([...JSONL, "--json"], {
      stdin: `${JSON.stringify({ type: "user", content })}\n`,
      env: providerEnv(server),
    });
    expect(promptsOf(run)).toEqual([content]);
    expect(server.requests[0]?.body).toMatchObject({
      messages: [{ content: [content[0], expect.objectContaining(content[1])] }],
    });
  });

  it.each([
    ["text", "one\ntwo\n"],
    ["json", '{"type":"result",'],
    ["pretty", "❯ a\n\n● one\n\n❯ b\n\n● two\n"],
  ])("in the format %s", async (format, printed) => {
    const run = await runCli([...JSONL, "--output-format", format, "--fake", answers()], {
      stdin: user("a") + user("b"),
    });
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout.toString()).toContain(printed);
    if (format !== "pretty")
      expect(run.stdout.toString().split("\n")).toHaveLength(
        printed.split("\n").length + (format === "json" ? 1 : 0),
      );
  });
});

describe("a line that is no prompt", () => {
  it("fails its own turn, named by its line, and the next goes on", async () => {
    const run = await runLines(`${user("a")}\nhello\n{"type":"usr"}\n${user("  ")}${user("b")}`);
    expect(promptsOf(run)).toEqual(["a", [], [], [], "b"]);
    expect(errorsOf(run)).toEqual([
      null,
      expect.stringMatching(/^stdin:3: it is not JSON/),
      'stdin:4: type: must be "user"; text: is missing',
      "stdin:5: text: is blank",
      null,
    ]);
    expect(resultOf(run)).toMatchObject({
      status: "error",
      exit_code: 1,
      error: { code: "invalid_request", message: expect.stringMatching(/^stdin:3: /) },
      text: "two",
      turns: 5,
      steps: 2,
    });
    expect(run.stderr).toBe("");
  });

  it("does not enter the conversation", async () => {
    const server = await provider(answer().text("yes").done());
    await runCli([...JSONL, "--json"], { stdin: `hello\n${user("a")}`, env: providerEnv(server) });
    expect(messagesOf(server.requests[0])).toEqual([["user", "a"]]);
  });

  it("CO-02: is named with its real length if it is too long, and the line after it is read", async () => {
    const run = await runLines(user("x".repeat(11 * MIB)) + user("b"));
    expect(promptsOf(run)).toEqual([[], "b"]);
    expect(errorsOf(run)[0]).toBe(
      `stdin:1: it is ${11 * MIB + 25} bytes long; a line has at most ${10 * MIB} (10 MiB)`,
    );
  });

  it("is not one of exactly 10 MiB", async () => {
    const text = "x".repeat(10 * MIB - 25);
    expect(promptsOf(await runLines(user(text)))).toEqual([text]);
  });

  it("may be one in which the input broke off", async () => {
    const run = await runLines(`${user("a")}{"type":"user","te`);
    expect(errorsOf(run)[1]).toMatch(/^stdin:2: it is not JSON .*\(stdin ended inside this line\)$/);
  });

  it("is told on stderr where stdout has the answers alone", async () => {
    const run = await runCli([...JSONL, "--output-format", "text", "--fake", answers()], {
      stdin: `${user("a")}hello\n${user("b")}[]\n`,
    });
    expect(run.stdout.toString()).toBe("one\ntwo\n");
    expect(run.stderr).toMatch(/^linefeed: turn 2: stdin:2: .*\nlinefeed: turn 4: stdin:4: .*\n$/);
    expect(run.code).toBe(1);
  });

  it("is read with a notice if it is only no UTF-8", async () => {
    const run = await runLines(
      Buffer.concat([Buffer.from('\n{"type":"user","text":"a'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    );
    expect(promptsOf(run)).toEqual(["a\ufffd"]);
    expect(ofType(run.events, "notice")).toMatchObject([
      { code: "stdin_not_utf8", message: expect.stringContaining("stdin:2 ") },
    ]);
    expect(run.code).toBe(0);
  });

  it("IN-04: input without any prompt is a usage error that asks no model", async () => {
    for (const input of ["", "\n \n"]) {
      const run = await runLines(input);
      expect(run.events.map((event) => event.type)).toEqual(["init", "result"]);
      expect(resultOf(run)).toMatchObject({ exit_code: 2, error: { code: "usage" }, turns: 0 });
      expect(run.stderr).toMatch(/^linefeed: stdin ended without a prompt.*\n$/);
    }
    const closed = await runShell(`$LINEFEED --input-format jsonl --fake ${answers()} <&-; echo "code $?"`);
    expect(closed.stdout.toString()).toBe("code 2\n");
  });

  it.each([
    [["-p", "hi", "--no-stdin"], "--no-stdin forbids"],
    [["-p", " "], "blank"],
    [["--input-format", "stream-json"], "needs --output-format stream-json"],
    [["--input-format", "json"], "text, jsonl"],
  ])("%j is refused before anything is read", async (args, named) => {
    const run = await runCli([...JSONL, ...args, "--fake", answers()], { stdin: user("a") });
    expect([run.code, run.stdout.toString()]).toEqual([2, ""]);
    expect(run.stderr).toContain(named);
  });

  it("a folder is no stdin", async () => {
    const run = await runShell(`$LINEFEED --input-format jsonl -p x --fake ${answers()} < .; echo "code $?"`);
    expect(run.stderr).toContain("folder");
    expect(run.stdout.toString()).toBe("code 2\n");
  });
});

describe("a turn that fails", () => {
  const refused = {
    fault: { code: "invalid_request" as const, message: "the image is broken", http_status: 400 },
  };

  it("does not end the run, which takes its code from the first of them", async () => {
    const overloaded = { fault: { code: "overloaded" as const, http_status: 529, retryable: true } };
    const script = scriptFile(["one", overloaded, refused, "four"]);
    const run = await runLines(user("a") + user("b") + user("c") + user("d"), ["--max-retries", "0"], script);
    expect(ofType(run.events, "turn_end").map((event) => event.error?.code ?? "ok")).toEqual([
      "ok",
      "overloaded",
      "invalid_request",
      "ok",
    ]);
    expect(resultOf(run)).toMatchObject({ exit_code: 75, error: { code: "overloaded" }, text: "four" });
  });

  it("leaves nothing in the conversation that the provider refused", async () => {
    const server = await provider(
      { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "no" } } },
      answer().text("yes").done(),
    );
    const run = await runCli([...JSONL, "--json"], {
      stdin: user("bad") + user("good"),
      env: providerEnv(server),
    });
    expect(ofType(run.events, "turn_end").map((event) => event.status)).toEqual(["error", "ok"]);
    expect(messagesOf(server.requests[1])).toEqual([["user", "good"]]);
  });

  it.each([
    ["a failed call", user("b"), refused],
    ["a bad line", "hello\n", "unused"],
  ])("ends the run with --stop-on-error: %s", async (_, line, second) => {
    const script = scriptFile(["one", second, "three"]);
    const run = await runLines(user("a") + line + user("c"), ["--stop-on-error"], script);
    expect(ofType(run.events, "turn_end").map((event) => event.status)).toEqual(["ok", "error"]);
    expect(resultOf(run)).toMatchObject({
      status: "error",
      exit_code: 1,
      error: { code: "invalid_request" },
    });
  });

  it("with --stop-on-error, whoever goes on writing is left alone", async () => {
    const run = await runShell(
      `yes hello | $LINEFEED --input-format jsonl --stop-on-error --json --fake ${answers()}; echo "codes \${PIPESTATUS[*]}" >&2`,
    );
    expect(run.stderr).toBe("codes 141 1\n");
    expect(lint(run.stdout)).toEqual([]);
  });

  it("--stop-on-error changes nothing for one prompt", async () => {
    const run = await runCli(["-p", "x", "--stop-on-error", "--json", "--fake", answers()]);
    expect(resultOf(run)).toMatchObject({ status: "ok", text: "one" });
  });
});

describe("limits", () => {
  const call = { content: [{ type: "tool_use" as const, name: "Read", input: { file_path: "none" } }] };

  it("count steps by turn", async () => {
    const run = await runLines(user("a") + user("b"), ["--max-steps", "1"], scriptFile([call, "two"]));
    expect(ofType(run.events, "turn_end").map((event) => event.status)).toEqual(["limit", "ok"]);
    expect(resultOf(run)).toMatchObject({
      status: "limit",
      exit_code: 3,
      error: { code: "max_steps" },
      steps: 2,
    });
  });

  it("count tokens by run: when they are used up, no further prompt is begun", async () => {
    const usage = { input_tokens: 100, output_tokens: 10 };
    const said = { content: [{ type: "text" as const, text: "one" }], usage };
    const args = ["--max-budget-tokens", "50"];
    const run = await runLines(user("a") + user("b"), args, scriptFile([said, "two"]));
    expect(promptsOf(run)).toEqual(["a"]);
    expect(resultOf(run)).toMatchObject({
      exit_code: 3,
      error: { code: "max_budget" },
      text: "one",
      turns: 1,
    });
    const enough = await runLines(user("a"), args, scriptFile([said, "two"]));
    expect(resultOf(enough)).toMatchObject({ exit_code: 0, text: "one" });
    const spent = await runLines(user("a") + user("b"), args, scriptFile([{ ...call, usage }, "two"]));
    expect(ofType(spent.events, "turn_end").map((event) => event.error?.code)).toEqual(["max_budget"]);
  });
});

/** Role and text of each message of a request. */
function messagesOf(request: { body: unknown } | undefined): [string, string][] {
  if (!request) throw new Error("there was no such request");
  const { messages } = request.body as { messages: { role: string; content: { text: string }[] }[] };
  return messages.map(({ role, content }) => [role, content.map(({ text }) => text).join("|")]);
}
