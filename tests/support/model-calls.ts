import {
  ModelError,
  type DoneChunk,
  type ModelChunk,
  type ModelClient,
  type ModelRequest,
} from "../../src/model/client.ts";
import { startFakeProvider, type FakeAnswer, type FakeProvider } from "../../src/testing/index.ts";

export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "model-test",
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

/** What must not depend on how the bytes arrive. */
export function essence({ text, thinking, toolInput, done, error, notices }: Outcome) {
  return {
    text,
    thinking,
    toolInput,
    notices,
    error,
    content: done?.content,
    stopReason: done?.stopReason,
    usage: done?.usage,
  };
}

/** One call for each answer, on one client. */
export async function askAll(
  answers: readonly FakeAnswer[],
  clientFor: (url: string) => ModelClient,
): Promise<ReturnType<typeof essence>[]> {
  return withProvider(answers, async ({ url }) => {
    const client = clientFor(url);
    const outcomes: ReturnType<typeof essence>[] = [];
    for (const _ of answers)
      outcomes.push(essence(await collect(client.stream(request(), new AbortController().signal))));
    return outcomes;
  });
}
