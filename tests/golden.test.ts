import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { AgentError } from "../src/protocol/errors.ts";
import { aborted, goldenFailure, goldenRun, type FakeCall } from "./support/golden-run.ts";
import { lint, parseLines } from "./support/lint.ts";

// The streams in examples/streams/, made by the real loop and the real encoding; `vitest -u` writes them.

const text = (words: string) => ({ type: "text" as const, text: words });
const thinking = (words: string) => ({
  type: "thinking" as const,
  thinking: words,
  signature: "c2lnbmF0dXJl",
});
const bash = (command: string) => ({ type: "tool_use" as const, name: "Bash", input: { command } });
const read = (file_path: string) => ({ type: "tool_use" as const, name: "Read", input: { file_path } });
const input = (tokens: number) => ({ input_tokens: tokens });

/** A command that prints and ends after some ms. */
function printed(ms: number, stdout: string, stderr = ""): FakeCall {
  return async function* (_context, clock) {
    clock.advance(ms / 2);
    if (stdout !== "") yield { stream: "stdout", text: stdout };
    if (stderr !== "") yield { stream: "stderr", text: stderr };
    clock.advance(ms / 2);
    return { content: stdout + stderr, exitCode: 0 };
  };
}

/** A read that ends after `turns` others have had their turn. */
function file(turns: number, content: string): FakeCall {
  // oxlint-disable-next-line require-yield -- reads print nothing while they run
  return async function* (_context, clock) {
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    clock.advance(2);
    return { content };
  };
}

const streams: Record<string, () => string | Promise<string>> = {
  "plain-answer": () =>
    goldenRun({
      prompt: "What does HTTP status 418 mean?",
      answers: [
        {
          content: [
            thinking("The teapot. RFC 2324, later RFC 7168."),
            text(
              "418 means “I’m a teapot” ☕: a server answers so that is asked to brew coffee and is a teapot (RFC 2324).",
            ),
          ],
          usage: { ...input(1234), cache_read_input_tokens: 1024 },
        },
      ],
    }),
  tools: () =>
    goldenRun({
      prompt: "Which version is this, and do the tests pass?",
      allow: "Bash(npm test)",
      answers: [
        {
          content: [
            thinking("Two files name the version; then the tests."),
            text("I look at both files first."),
            read("package.json"),
            read("CHANGELOG.md"),
          ],
          usage: input(812),
        },
        { content: [bash("npm test")], usage: input(1105) },
        { content: [text("This is 2.4.1, and all 12 tests pass.")], usage: input(1380) },
      ],
      calls: {
        "package.json": file(3, '     1\t{ "name": "teapot", "version": "2.4.1" }\n'),
        "CHANGELOG.md": file(1, "     1\t# 2.4.1\n     2\tBrews Ä, 漢字 and 🫖.\n"),
        "npm test": printed(840, "ok 1 - pours\nok 2 - brews\n# pass 12\n", "(node) a warning\n"),
      },
    }),
  "tool-input": () =>
    goldenRun({
      prompt: "How many lines has README.md?",
      includeToolInput: true,
      allow: "Bash(wc *)",
      answers: [
        { content: [bash("wc -l README.md")], usage: input(790) },
        { content: [text("README.md has 42 lines.")], usage: input(850) },
      ],
      calls: { "wc -l README.md": printed(6, "42 README.md\n") },
    }),
  denied: () =>
    goldenRun({
      prompt: "Remove the build folder.",
      answers: [
        { content: [bash("rm -rf build")], usage: input(788) },
        {
          content: [text('I may not remove it. Allow it with --allowed-tools "Bash(rm -rf build)".')],
          usage: input(861),
        },
      ],
    }),
  retry: () =>
    goldenRun({
      prompt: "Name a prime between 90 and 100.",
      answers: [
        {
          content: [text("Between 90 and 100 there is one prime")],
          fault: {
            code: "overloaded",
            message: "the provider is overloaded",
            http_status: 529,
            retryable: true,
            after_characters: 24,
          },
        },
        {
          fault: {
            code: "rate_limit",
            message: "too many requests",
            http_status: 429,
            retryable: true,
            retry_after_ms: 2000,
          },
        },
        { content: [text("97 is the only prime between 90 and 100.")], usage: input(640) },
      ],
    }),
  unavailable: () =>
    goldenRun({
      prompt: "Name a prime between 90 and 100.",
      maxRetries: 1,
      answers: [
        {
          fault: {
            code: "overloaded",
            message: "the provider is overloaded",
            http_status: 529,
            retryable: true,
          },
        },
        {
          fault: {
            code: "overloaded",
            message: "the provider is overloaded",
            http_status: 529,
            retryable: true,
          },
        },
      ],
    }),
  cancelled: () =>
    goldenRun({
      prompt: "Wait for the deployment.",
      allow: "Bash(./wait-for-deployment)",
      answers: [{ content: [text("I wait."), bash("./wait-for-deployment")], usage: input(795) }],
      calls: {
        "./wait-for-deployment": async function* (context, clock) {
          clock.advance(120);
          yield { stream: "stdout", text: "waiting …\n" };
          clock.advance(15_000);
          yield { stream: "stdout", text: "still waiting …\n" };
          await aborted(context.signal);
          clock.advance(30);
          return {
            status: "cancelled",
            content: "waiting …\nstill waiting …\nCancelled; the command and what it had started were ended.",
          };
        },
      },
      after(body, { cancellation, emit }) {
        if (body.type !== "tool_output_delta" || !body.text.startsWith("still")) return;
        emit({ type: "heartbeat", turn: 1, step: 1, waiting_for: "tool", elapsed_ms: 15_120 });
        cancellation.onSignal("SIGINT");
      },
    }),
  limit: () =>
    goldenRun({
      prompt: "Find the slow test.",
      limits: { maxSteps: 1 },
      answers: [
        { content: [text("I begin with the list of tests."), read("tests/list.txt")], usage: input(774) },
      ],
    }),
  turns: () =>
    goldenRun({
      prompt: [
        "Which is the largest planet?",
        new AgentError(
          "invalid_request",
          'stdin:2: it is not JSON (Unexpected token \'A\', "And the smallest?" is not valid JSON); write {"type":"user","text":"…"}',
        ),
        "And how many moons has it?",
      ],
      answers: [
        { content: [text("Jupiter.")], usage: input(610) },
        { content: [text("97 are known.")], usage: input(634) },
      ],
    }),
  "usage-error": () =>
    goldenFailure(
      new AgentError(
        "usage",
        "option '--output-format <format>' argument 'jsnl' is invalid. Choose one of jsonl, json, text. See linefeed --help",
      ),
    ),
  "config-error": () =>
    goldenFailure(
      new AgentError(
        "config",
        "there is no key: set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or play a script offline with --fake file.json",
      ),
    ),
};

describe.each(Object.entries(streams))("examples/streams/%s.jsonl", (name, make) => {
  it("is what the code prints", async () => {
    await expect(await make()).toMatchFileSnapshot(`../examples/streams/${name}.jsonl`);
  });

  it("keeps the rules of framing, schema and order", async () => {
    expect(lint(Buffer.from(await make()))).toEqual([]);
  });

  it("is valid by the published JSON Schemas for a validator that is not ours", async () => {
    const faults = parseLines(await make()).flatMap((event) => [
      ...faultsOf("event", event),
      ...faultsOf(event.type, event),
    ]);
    expect(faults).toEqual([]);
  });
});

it("examples/streams/ holds nothing else, and its README names each", () => {
  const files = readdirSync("examples/streams").filter((file) => file !== "README.md");
  expect(files.toSorted()).toEqual(
    Object.keys(streams)
      .map((name) => `${name}.jsonl`)
      .toSorted(),
  );
  const readme = readFileSync("examples/streams/README.md", "utf8");
  for (const file of files) expect(readme).toContain(`\`${file}\``);
});

// The pattern beside each `format` says the same.
const ajv = new Ajv2020({ allErrors: true, validateFormats: false });

function faultsOf(schema: string, value: unknown): unknown[] {
  const key = `schemas/${schema}.json`;
  const validate =
    ajv.getSchema(key) ?? ajv.addSchema(JSON.parse(readFileSync(key, "utf8")) as object, key).getSchema(key);
  if (!validate) throw new Error(`${key} cannot be used`);
  validate(value);
  return validate.errors ?? [];
}
