import type { Usage } from "../../protocol/content.ts";
import { isRecord, record, type Json } from "../json.ts";

/** What servers count, all of it cumulative. */
interface Counts {
  prompt: number;
  completion: number;
  total: number;
  cached: number;
  written: number;
}

/**
 * The tokens of one answer, from reports in any number of chunks: in the last one, in one of its own, or in
 * each with the numbers so far. A later 0 or null does not overwrite a number.
 */
export class UsageReports {
  readonly #counts: Counts = { prompt: 0, completion: 0, total: 0, cached: 0, written: 0 };
  #reported = false;

  /** Takes what a chunk says, in it, in its choice (Moonshot) or under a name of its own (Groq). */
  addFrom(chunk: Json, choice: Json): void {
    this.#add(chunk["usage"]);
    this.#add(choice["usage"]);
    const groq = chunk["x_groq"];
    if (isRecord(groq)) this.#add(groq["usage"]);
  }

  #add(report: unknown): void {
    if (!isRecord(report)) return;
    const details = record(report["prompt_tokens_details"]);
    const found: Partial<Record<keyof Counts, unknown>> = {
      prompt: report["prompt_tokens"],
      completion: report["completion_tokens"],
      total: report["total_tokens"],
      // The second is DeepSeek's.
      cached: details["cached_tokens"] ?? report["prompt_cache_hit_tokens"],
      written: details["cache_write_tokens"],
    };
    for (const key of Object.keys(this.#counts) as (keyof Counts)[]) {
      const count = tokens(found[key]);
      if (count === undefined) continue;
      this.#reported = true;
      if (count > 0) this.#counts[key] = count;
    }
  }

  /** Null if nothing was reported. */
  get usage(): Usage | null {
    if (!this.#reported) return null;
    const { prompt, completion, total, cached, written } = this.#counts;
    const read = Math.min(cached, prompt);
    const created = Math.min(written, prompt - read);
    return {
      input_tokens: prompt - read - created,
      // Some servers leave the tokens of thinking out of the completion, and count them in the total.
      output_tokens: prompt > 0 ? Math.max(completion, total - prompt) : completion,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: created,
    };
  }
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
