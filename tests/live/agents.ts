import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { answer, chatAnswer, type FakeAnswer } from "../../src/testing/index.ts";
import type { DialectName } from "../../src/protocol/words.ts";

/** What every agent is made to say. */
export const HELLO = "Hello from the fake provider.";
const USAGE = { input: 12, output: 7 };

/** How an agent is started so that it asks the fake provider and nobody else. */
export interface Agent {
  /** The program, as it is called on the path. */
  program: DialectName;
  args: (url: string) => string[];
  env: (url: string, home: string) => Record<string, string>;
  /** Writes the settings that it needs in its home. */
  prepare?: (url: string, home: string) => void;
  /** The answer of a model, in the words of its provider. */
  hello: () => FakeAnswer | string;
}

const PROMPT = "Say hello.";
const sse = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

function responsesEvents(): string {
  const item = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: HELLO, annotations: [] }],
  };
  const usage = {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.input + USAGE.output,
  };
  const events = [
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: HELLO },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", usage, output: [item] } },
  ];
  return events.map((event) => `event: ${event.type}\n${sse([event])}`).join("");
}

const geminiEvents = (): string =>
  sse([
    {
      candidates: [{ content: { role: "model", parts: [{ text: HELLO }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: USAGE.input,
        candidatesTokenCount: USAGE.output,
        totalTokenCount: USAGE.input + USAGE.output,
      },
    },
  ]);

function write(path: string, content: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
}

export const AGENTS: readonly Agent[] = [
  {
    program: "claude",
    args: () => ["-p", PROMPT, "--output-format", "stream-json", "--verbose", "--include-partial-messages"],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "fake", DISABLE_TELEMETRY: "1" }),
    hello: () => answer().text(HELLO).done(),
  },
  {
    program: "codex",
    args: (url) => [
      "exec",
      "--json",
      "--skip-git-repo-check",
      "-c",
      `model_providers.fake={name="fake",base_url="${url}/v1",wire_api="responses",env_key="FAKE_KEY"}`,
      "-c",
      'model_provider="fake"',
      "-c",
      'model="gpt-5-codex"',
      PROMPT,
    ],
    env: (_, home) => ({ FAKE_KEY: "fake", CODEX_HOME: home }),
    hello: responsesEvents,
  },
  {
    program: "gemini",
    args: () => ["-p", PROMPT, "--output-format", "stream-json", "-m", "gemini-2.5-pro", "--skip-trust"],
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "fake" }),
    prepare: (_, home) => {
      const security = { auth: { selectedType: "gemini-api-key" } };
      write(join(home, ".gemini", "settings.json"), { security });
    },
    hello: geminiEvents,
  },
  {
    program: "qwen",
    args: () => [
      "-p",
      PROMPT,
      "--auth-type",
      "openai",
      "--output-format",
      "stream-json",
      "--include-partial-messages",
    ],
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "fake", OPENAI_MODEL: "fake" }),
    hello: () => chatAnswer().text(HELLO).done(),
  },
  {
    program: "opencode",
    args: () => ["run", "--format", "json", "--model", "fake/fake", PROMPT],
    env: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: {
          fake: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "fake" },
            models: { fake: {} },
          },
        },
        small_model: "fake/fake",
        share: "disabled",
        autoupdate: false,
      }),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    hello: () => chatAnswer().text(HELLO).done(),
  },
  {
    program: "pi",
    args: () => ["--mode", "json", "-p", "--provider", "fake", "--model", "fake", PROMPT],
    env: (_, home) => ({ PI_CODING_AGENT_DIR: join(home, "pi"), PI_OFFLINE: "1" }),
    prepare: (url, home) => {
      const fake = {
        baseUrl: `${url}/v1`,
        api: "openai-completions",
        apiKey: "fake",
        models: [{ id: "fake" }],
      };
      write(join(home, "pi", "models.json"), { providers: { fake } });
    },
    hello: () => chatAnswer().text(HELLO).done(),
  },
];
