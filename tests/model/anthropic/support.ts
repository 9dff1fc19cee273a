import { createAnthropicClient, type AnthropicOptions } from "../../../src/model/anthropic/client.ts";
import type { ModelRequest } from "../../../src/model/client.ts";
import type { FakeAnswer } from "../../../src/testing/index.ts";
import { collect, request, withProvider, type Outcome } from "../../support/model-calls.ts";

export const KEY = "sk-ant-test-0123456789";

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
