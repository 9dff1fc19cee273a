import type { Usage } from "../../protocol/content.ts";
import type { Json } from "../json.ts";

const FIELDS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

/**
 * The usage after a further report. Anthropic's counts are cumulative and come in several events, not
 * each in every one; gateways fill what they do not know with 0 or null, which must not overwrite a
 * number that was already there.
 */
export function mergeUsage(known: Usage | null, reported: Json | undefined): Usage | null {
  if (reported === undefined) return known;
  const counts = FIELDS.map((field) => [field, count(reported[field])] as const).filter(
    ([, value]) => value !== undefined,
  );
  if (counts.length === 0) return known;
  const merged = known ?? {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  return { ...merged, ...Object.fromEntries(counts.filter(([, value]) => value !== 0)) };
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && typeof value === "number" && value >= 0 ? value : undefined;
}
