import type { ModelError } from "../client.ts";
import { isOpenAI, isOpenRouter } from "./address.ts";
import type { ReasoningField } from "./reasoning.ts";

/** What a server takes, as far as it is known: a guess by its address, mended by what it refuses. */
export interface Habits {
  /** Names for the limit on an answer's tokens, the first to be tried first; without any no limit goes out. */
  limits: readonly ("max_tokens" | "max_completion_tokens")[];
  /** Whether usage is asked for. */
  usage: boolean;
  /** Under which name thinking goes back. */
  reasoning: ReasoningField | "none";
}

/** OpenAI's newer models refuse `max_tokens`; most imitators know nothing else. */
export function habitsOf(baseURL: string): Habits {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  const own = url !== undefined && isOpenAI(url);
  const reasoning = url !== undefined && isOpenRouter(url) ? "reasoning" : "reasoning_content";
  return {
    limits: own ? ["max_completion_tokens", "max_tokens"] : ["max_tokens", "max_completion_tokens"],
    usage: true,
    // OpenAI sends no thinking in this dialect, and takes none back.
    reasoning: own ? "none" : reasoning,
  };
}

const UNKNOWN =
  /unsupported|not supported|unrecognized|unknown|unexpected|extra|not permitted|not allowed|forbidden|use '?max_/i;
const TOO_LARGE = /too (large|big|high|many)|at most|maximum|less than|exceed|range|greater/i;
const LIMIT =
  /max_tokens|max_completion_tokens|max_new_tokens|output tokens|in the completion|completion tokens/i;

/**
 * How to ask again after a request was refused for what it held; undefined if the refusal names none of it. Each
 * answer leaves something out for good, so asking again comes to an end.
 */
export function mended(sent: Habits, { httpStatus, message }: ModelError): Habits | undefined {
  if (httpStatus !== 400 && httpStatus !== 422) return undefined;
  if (sent.usage && /stream_options|include_usage/.test(message)) return { ...sent, usage: false };
  const isUnknown = UNKNOWN.test(message);
  if (sent.reasoning !== "none" && isUnknown && /\breasoning(_content)?\b/.test(message))
    return { ...sent, reasoning: "none" };
  const [limit] = sent.limits;
  if (limit === undefined || !LIMIT.test(message)) return undefined;
  // A limit beyond what the model can do is none; what it cannot do it will not.
  if (TOO_LARGE.test(message)) return { ...sent, limits: [] };
  return isUnknown && message.includes(limit) ? { ...sent, limits: sent.limits.slice(1) } : undefined;
}
