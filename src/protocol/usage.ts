import type { Usage } from "./content.ts";

/** A sum of tokens, in all and by model. What was never reported stays null rather than zero. */
export class UsageTotal {
  #total: Usage | null = null;
  readonly #byModel = new Map<string, Usage>();

  /** Without a model the tokens are in the total only. */
  add(model: string | null, usage: Usage | null): void {
    if (!usage) return;
    this.#total = plus(this.#total, usage);
    if (model !== null) this.#byModel.set(model, plus(this.#byModel.get(model) ?? null, usage));
  }

  get total(): Usage | null {
    return this.#total;
  }

  get byModel(): Record<string, Usage> {
    return Object.fromEntries(this.#byModel);
  }

  /** Everything that was processed: the four counts together. */
  get tokens(): number {
    const sum = this.#total;
    if (!sum) return 0;
    return (
      sum.input_tokens + sum.output_tokens + sum.cache_read_input_tokens + sum.cache_creation_input_tokens
    );
  }
}

function plus(a: Usage | null, b: Usage): Usage {
  if (!a) return { ...b };
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
  };
}
