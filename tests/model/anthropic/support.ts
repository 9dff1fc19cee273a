import { createAnthropicClient, type AnthropicOptions } from "../../../src/model/anthropic/client.ts";
import { ModelError, type DoneChunk, type ModelChunk, type ModelRequest } from "../../../src/model/client.ts";
import { startFakeProvider, type FakeAnswer, type FakeProvider } from "../../../src/testing/index.ts";

export const KEY = "sk-ant-test-0123456789";

export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "claude-test",
    system: "",
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    tools: [],
    maxTokens: 1000,
    effort: undefined,
    thinking: "off",
    ...changes,
  };
}

/** What a call gave: its chunks, and the error that ended it. */
export interface Outcome {
  chunks: ModelChunk[];
  done: DoneChunk | undefined;
  error: ModelError | undefined;
  /** The text deltas, joined. */
  text: string;
  thinking: string;
  toolInput: string;
  notices: string[];
}

export async function collect(stream: AsyncIterable<readonly ModelChunk[]>): Promise<Outcome> {
  const chunks: ModelChunk[] = [];
  let error: ModelError | undefined;
  try {
    for await (const batch of stream) chunks.push(...batch);
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    error = thrown;
  }
  const last = chunks.at(-1);
  return {
    chunks,
    done: last?.type === "done" ? last : undefined,
    error,
    text: chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join(""),
    thinking: chunks.map((chunk) => (chunk.type === "thinking" ? chunk.text : "")).join(""),
    toolInput: chunks.map((chunk) => (chunk.type === "tool_input" ? chunk.partialJson : "")).join(""),
    notices: chunks.flatMap((chunk) => (chunk.type === "notice" ? [chunk.code] : [])),
  };
}

/** Starts a provider, does something with it, and closes it whatever happens. */
export async function withProvider<T>(
  answers: readonly (FakeAnswer | string)[],
  use: (provider: FakeProvider) => Promise<T>,
): Promise<T> {
  const provider = await startFakeProvider(answers);
  try {
    return await use(provider);
  } finally {
    await provider.close();
  }
}

/** One call against one answer. */
export async function ask(
  answer: FakeAnswer | string,
  options: AnthropicOptions = {},
  changes: Partial<ModelRequest> = {},
): Promise<Outcome> {
  return withProvider([answer], ({ url }) => {
    const client = createAnthropicClient({ apiKey: KEY, baseURL: url, ...options });
    return collect(client.stream(request(changes), new AbortController().signal));
  });
}
