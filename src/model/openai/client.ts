import type { ModelRequest } from "../client.ts";
import { hostOf, keyRedactor } from "../endpoint.ts";
import { HttpClient, type Exchange, type HttpModelClient } from "../http-client.ts";
import { OPENAI_URL } from "./address.ts";
import { OpenAIDecoder } from "./chunks.ts";
import { OPENAI_DIALECT } from "./errors.ts";
import { habitsOf, mended, type Habits } from "./habits.ts";
import type { OpenAIOptions } from "./options.ts";
import { toBody } from "./request.ts";
import { createTransport, namesFor } from "./transport.ts";

export type { OpenAIOptions } from "./options.ts";

export type OpenAIModelClient = HttpModelClient;

/** The `openai` provider: Chat Completions of OpenAI, OpenRouter, vLLM, Ollama, llama.cpp, LM Studio and the like. */
export function createOpenAIClient(options: OpenAIOptions): OpenAIModelClient {
  const baseURL = options.baseURL || OPENAI_URL;
  // What one call learns of the server is known to the next.
  const learned = { habits: habitsOf(baseURL) };
  return new HttpClient({
    context: {
      provider: "openai",
      host: hostOf(baseURL),
      names: namesFor(baseURL),
      redact: keyRedactor([options.apiKey], options.proxy),
    },
    dialect: OPENAI_DIALECT,
    connect: () => createTransport(options),
    trace: options.trace,
    exchange: (request) => exchangeFor(request, learned),
  });
}

function exchangeFor(request: ModelRequest, learned: { habits: Habits }): Exchange {
  let { habits } = learned;
  return {
    body: () => toBody(request, habits),
    decoder: (context) =>
      new OpenAIDecoder(context, {
        tools: request.tools.map(({ name }) => name),
        usedIds: callIds(request),
        thinking: request.thinking === "summarized",
        onReasoningField(field) {
          const { reasoning } = learned.habits;
          if (reasoning !== "none" && reasoning !== field)
            learned.habits = { ...learned.habits, reasoning: field };
        },
      }),
    amend(error) {
      const better = mended(habits, error);
      if (better === undefined) return false;
      habits = better;
      // How much context is left differs from call to call; what a server knows does not.
      if (!/context/i.test(error.message)) learned.habits = better;
      return true;
    },
  };
}

function callIds({ messages }: ModelRequest): Set<string> {
  const ids = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_use" ? block.id : [])),
  );
  return new Set(ids);
}
