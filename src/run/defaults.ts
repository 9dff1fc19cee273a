/** What holds for a run that says nothing else. Durations in ms. */
export const DEFAULTS = {
  model: "claude-opus-5-5",
  maxTokens: 32_000,
  thinking: "summarized",
  maxRetries: 6,
  idleTimeoutMs: 300_000,
  toolTimeoutMs: 120_000,
  coalesceMs: 50,
  heartbeatMs: 15_000,
  drainTimeoutMs: 10_000,
} as const;
