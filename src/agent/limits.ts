import type { Usage } from "../protocol/content.ts";
import { AgentError } from "../protocol/errors.ts";
import type { UsageTotal } from "../protocol/usage.ts";

/** What a run may use. Undefined: no limit. */
export interface Limits {
  /** Steps of one turn. */
  maxSteps: number | undefined;
  /** Tokens of the run, all four counts together. */
  maxBudgetTokens: number | undefined;
  /** Dollars of the run, at {@link ASSUMED_PRICES}. */
  maxBudgetUsd?: number | undefined;
}

/**
 * Dollars for a million tokens: the list prices of Claude Opus 4.1, the highest of the Claude models so far, those of cache writes that
 * last an hour. A budget in dollars is counted at these whatever the model, so that it ends a run too early rather than too late.
 */
const ASSUMED_PRICES: Usage = {
  input_tokens: 15,
  output_tokens: 75,
  cache_read_input_tokens: 1.5,
  cache_creation_input_tokens: 30,
};

/** @throws AgentError `max_steps` if the turn may take no further step. */
export function checkSteps(taken: number, { maxSteps }: Limits): void {
  if (maxSteps !== undefined && taken >= maxSteps) throw stepsError(maxSteps);
}

/** @throws AgentError `max_budget` if the run has used up what it may. */
export function checkBudget(usage: UsageTotal, limits: Limits): void {
  const error = budgetReached(usage, limits);
  if (error) throw error;
}

/** The limit that keeps a message's calls from being answered, if one does: then they do not run at all. */
export function limitReached(steps: number, usage: UsageTotal, limits: Limits): AgentError | undefined {
  const { maxSteps } = limits;
  const error = budgetReached(usage, limits);
  if (error) return error;
  if (maxSteps !== undefined && steps >= maxSteps) return stepsError(maxSteps);
  return undefined;
}

function budgetReached(usage: UsageTotal, limits: Limits): AgentError | undefined {
  const { maxBudgetTokens, maxBudgetUsd } = limits;
  if (maxBudgetTokens !== undefined && usage.tokens >= maxBudgetTokens)
    return budgetError(`${usage.tokens} tokens`, `${maxBudgetTokens} (--max-budget-tokens)`);
  const dollars = dollarsOf(usage.total);
  if (maxBudgetUsd !== undefined && dollars >= maxBudgetUsd)
    return budgetError(`up to ${dollars.toFixed(4)} $`, `${maxBudgetUsd} $ (--max-budget-usd)`);
  return undefined;
}

function dollarsOf(usage: Usage | null): number {
  if (!usage) return 0;
  const millionths =
    usage.input_tokens * ASSUMED_PRICES.input_tokens +
    usage.output_tokens * ASSUMED_PRICES.output_tokens +
    usage.cache_read_input_tokens * ASSUMED_PRICES.cache_read_input_tokens +
    usage.cache_creation_input_tokens * ASSUMED_PRICES.cache_creation_input_tokens;
  return millionths / 1_000_000;
}

function stepsError(maxSteps: number): AgentError {
  return new AgentError("max_steps", `the turn reached its limit of ${maxSteps} step(s) (--max-steps)`);
}

function budgetError(used: string, budget: string): AgentError {
  return new AgentError("max_budget", `the run used ${used} of a budget of ${budget}`);
}
