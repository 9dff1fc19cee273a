import * as z from "zod";
import { promptContent } from "../protocol/content.ts";
import { AgentError } from "../protocol/errors.ts";

/** What the process that was asked for a background run hands to the one that does it, through a pipe. */
const handover = z.object({
  /** The command line, `--bg` and prompt included. */
  argv: z.array(z.string()),
  prompt: promptContent,
  /** The session: a new one's id, or the one to carry on. */
  id: z.string(),
  /** What others could read in the process's environment: keys. */
  secrets: z.record(z.string(), z.string()),
});
export type Handover = z.infer<typeof handover>;

/** What comes back: that the run has begun, or why it has not. */
const outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("running") }),
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string(), retryable: z.boolean() }),
]);
export type Outcome = z.infer<typeof outcome>;

/** @throws AgentError `internal` if the text is none. */
export function parseHandover(text: string): Handover {
  return parsed(handover, text);
}

/** @throws AgentError `internal` if the text is none. */
export function parseOutcome(text: string): Outcome {
  return parsed(outcome, text);
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new AgentError(
      "internal",
      `the two halves of a background run do not understand each other: ${String(error)}`,
    );
  }
}
