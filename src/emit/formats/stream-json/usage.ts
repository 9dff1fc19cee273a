import type { Usage } from "../../../protocol/content.ts";

/** What is assumed of a model's context, in tokens: no provider says it with an answer, and clients divide by it. */
const CONTEXT_WINDOW = 200_000;

/** Tokens as clients add them up: they want zeros, not gaps. */
export function usageOf(usage: Usage | null): Usage {
  return usage ?? sum(undefined, undefined);
}

/** Tokens by model since the run began, in the names of `result.modelUsage`. */
export class ModelUsage {
  readonly #byModel = new Map<string, Usage>();
  readonly #maxTokens: number;

  /** @param maxTokens the most that one answer may have. */
  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  add(model: string, usage: Usage | null): void {
    if (usage) this.#byModel.set(model, sum(this.#byModel.get(model), usage));
  }

  /** As `result` has it. */
  asRecord(): Record<string, object> {
    return Object.fromEntries([...this.#byModel].map(([model, usage]) => [model, this.#entry(usage)]));
  }

  #entry(usage: Usage): object {
    return {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadInputTokens: usage.cache_read_input_tokens,
      cacheCreationInputTokens: usage.cache_creation_input_tokens,
      webSearchRequests: 0,
      costUSD: 0,
      contextWindow: CONTEXT_WINDOW,
      maxOutputTokens: this.#maxTokens,
    };
  }
}

function sum(a: Usage | undefined, b: Usage | undefined): Usage {
  const of = (key: keyof Usage) => (a?.[key] ?? 0) + (b?.[key] ?? 0);
  return {
    input_tokens: of("input_tokens"),
    cache_creation_input_tokens: of("cache_creation_input_tokens"),
    cache_read_input_tokens: of("cache_read_input_tokens"),
    output_tokens: of("output_tokens"),
  };
}
