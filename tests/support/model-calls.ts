import {
  ModelError,
  type DoneChunk,
  type Message,
  type ModelChunk,
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

type Blocks<Role extends Message["role"]> = Extract<Message, { role: Role }>["content"];

// Parts of a history.
export const user = (...content: Blocks<"user">): Message => ({ role: "user", content });
export const assistant = (...content: Blocks<"assistant">): Message => ({ role: "assistant", content });
export const text = (value: string) => ({ type: "text", text: value }) as const;
export const call = (id: string, name = "Bash") =>
  ({ type: "tool_use", id, name, input: { command: "ls" } }) as const;
export const result = (tool_use_id: string, content = "out", is_error = false) =>
  ({ type: "tool_result", tool_use_id, content, is_error }) as const;
