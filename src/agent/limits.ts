import { AgentError } from "../protocol/errors.ts";

/** What a run may use. Undefined: no limit. */
export interface Limits {
  /** Steps of one turn. */
  maxSteps: number | undefined;
  /** Tokens of the run, all four counts together. */
  maxBudgetTokens: number | undefined;
}

/** @throws AgentError `max_steps` if the turn may take no further step. */
export function checkSteps(taken: number, { maxSteps }: Limits): void {
  if (maxSteps !== undefined && taken >= maxSteps) throw stepsError(maxSteps);
}

/** @throws AgentError `max_budget` if the run has used up its tokens. */
export function checkBudget(tokens: number, { maxBudgetTokens }: Limits): void {
  if (maxBudgetTokens !== undefined && tokens >= maxBudgetTokens) throw budgetError(tokens, maxBudgetTokens);
}

/** The limit that keeps a message's calls from being answered, if one does: then they do not run at all. */
export function limitReached(steps: number, tokens: number, limits: Limits): AgentError | undefined {
  const { maxSteps, maxBudgetTokens } = limits;
  if (maxBudgetTokens !== undefined && tokens >= maxBudgetTokens) return budgetError(tokens, maxBudgetTokens);
  if (maxSteps !== undefined && steps >= maxSteps) return stepsError(maxSteps);
  return undefined;
}

function stepsError(maxSteps: number): AgentError {
  return new AgentError("max_steps", `the turn reached its limit of ${maxSteps} step(s) (--max-steps)`);
}

function budgetError(tokens: number, maxBudgetTokens: number): AgentError {
  return new AgentError(
    "max_budget",
    `the run used ${tokens} tokens of a budget of ${maxBudgetTokens} (--max-budget-tokens)`,
  );
}
