import type { ModelRequest } from "../../../src/model/client.ts";
import { createOpenAIClient, type OpenAIOptions } from "../../../src/model/openai/client.ts";
import type { FakeAnswer } from "../../../src/testing/index.ts";
import { collect, request, withProvider, type Outcome } from "../../support/model-calls.ts";

export const KEY = "sk-test-0123456789";

export const BASH = { name: "Bash", description: "runs", inputSchema: { type: "object" } };
export const READ = { name: "Read", description: "reads", inputSchema: { type: "object" } };

/** One call against one answer, with two tools. */
export async function ask(
  answer: FakeAnswer | string,
  options: OpenAIOptions = {},
  changes: Partial<ModelRequest> = {},
): Promise<Outcome> {
  return withProvider([answer], ({ url }) => {
    const client = createOpenAIClient({ apiKey: KEY, baseURL: `${url}/v1`, ...options });
    const asked = request({ tools: [BASH, READ], thinking: "summarized", ...changes });
    return collect(client.stream(asked, new AbortController().signal));
  });
}
