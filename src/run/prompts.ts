import type { PromptContent } from "../protocol/content.ts";
import type { AgentError } from "../protocol/errors.ts";
import type { EventBodyOf } from "../protocol/event.ts";

/** What a run is asked next: a prompt, or something that was meant for one and cannot be read as such. */
export type NextPrompt = {
  notices: EventBodyOf<"notice">[];
  /** Called once its turn has begun and has said so. */
  onBegun?: () => void;
} & ({ kind: "prompt"; prompt: PromptContent } | { kind: "unreadable"; error: AgentError });

/**
 * Where a run's prompts come from, be it the command line, stdin or another process. The run asks for the next
 * one when it has answered the last, so nothing has to be kept that has not been asked for.
 */
export interface PromptStream {
  /**
   * The next prompt; undefined when there will be none. One call at a time. Rejects soon after `signal` aborts,
   * with whatever; an AgentError if the prompts cannot be had.
   */
  next(signal: AbortSignal): Promise<NextPrompt | undefined>;
  /** Nothing more will be asked for. Idempotent; never throws. */
  close(): void;
}

/** Prompts that are known beforehand. */
export function promptList(prompts: readonly PromptContent[]): PromptStream {
  const left = [...prompts];
  return {
    async next() {
      const prompt = left.shift();
      return prompt === undefined ? undefined : { kind: "prompt", prompt, notices: [] };
    },
    close() {
      left.length = 0;
    },
  };
}
