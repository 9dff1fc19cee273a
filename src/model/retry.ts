import type { ModelError } from "./client.ts";
import { reworded } from "./reword.ts";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
// Downwards only, so that the longest wait is a limit that documentation can name.
const JITTER = 0.25;

/** What is known when a model call has failed. */
export interface FailedAttempt {
  error: ModelError;
  /** The attempt that failed, from 1. */
  attempt: number;
  /** How many further attempts are allowed after the first. */
  maxRetries: number;
  /** As `Math.random`: from 0 to below 1. */
  random: () => number;
}

/** What follows: another attempt after a wait in ms, or the error to end with. */
export type RetryPlan = { retry: true; delayMs: number } | { retry: false; error: ModelError };

/**
 * Decides whether a failed model call is tried again. Waits 1 s, doubling to 60 s, each shortened by up to a
 * quarter; a wait that the provider asks for is kept exactly, and one of more than 60 s ends the
 * attempts at once, since whoever called can wait better than a process that holds a shell.
 */
export function planRetry({ error, attempt, maxRetries, random }: FailedAttempt): RetryPlan {
  if (!error.retryable || attempt > maxRetries) return { retry: false, error };
  const asked = error.retryAfterMs;
  if (asked === undefined) return { retry: true, delayMs: backoff(attempt, random) };
  if (asked > LONGEST_WAIT_MS) return { retry: false, error: askedTooLong(error, asked) };
  return { retry: true, delayMs: Math.ceil(asked) };
}

function backoff(attempt: number, random: () => number): number {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(wait * (1 - JITTER * random()));
}

function askedTooLong(error: ModelError, askedMs: number): ModelError {
  const seconds = Math.ceil(askedMs / 1000);
  const message = `${error.message} (the provider asks to wait ${seconds} s, which is more than ${LONGEST_WAIT_MS / 1000} s: try again then)`;
  return reworded(error, message);
}
