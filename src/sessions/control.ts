import type { PromptContent } from "../protocol/content.ts";
import { AgentError } from "../protocol/errors.ts";

/** What the writer of a session can be asked to do. */
export type ControlRequest =
  | { cmd: "ping" }
  /** End the run in order. */
  | { cmd: "stop" }
  /** Answer a further prompt; with `interrupt`, end the current turn first. */
  | { cmd: "send"; prompt: PromptContent; interrupt: boolean };

/** Answers one request. What it throws becomes the reply. */
export type ControlHandler = (request: ControlRequest) => Promise<void> | void;

export interface RequestOptions {
  /** How long the answer is waited for, in ms: a stopped process takes a request and never answers. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** A writer that has not answered in time. The same request may succeed later. */
export function noAnswer(id: string): AgentError {
  return new AgentError(
    "idle_timeout",
    `session ${id} does not answer; its process may be stopped (kill -CONT …), or end it with: linefeed stop ${id} --force`,
    { retryable: true },
  );
}

/** There is nobody to be asked. */
export function notRunning(id: string): AgentError {
  return new AgentError("not_found", `session ${id} is not running`);
}
