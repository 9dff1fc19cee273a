import * as z from "zod";
import { usage } from "../../protocol/content.ts";
import { AgentError, type ErrorCode } from "../../protocol/errors.ts";
import { STOP_REASONS } from "../../protocol/words.ts";

/** What a provider's call can fail with; the other codes are not the provider's to give. */
const FAULT_CODES = [
  "authentication",
  "permission",
  "billing",
  "not_found",
  "invalid_request",
  "context_overflow",
  "rate_limit",
  "overloaded",
  "server_error",
  "network",
  "stream_interrupted",
  "idle_timeout",
  "malformed_response",
] as const satisfies readonly ErrorCode[];

const ms = (description: string) => z.number().nonnegative().describe(description);

const scriptBlock = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().optional() }),
  z
    .strictObject({
      type: z.literal("tool_use"),
      name: z.string(),
      id: z.string().optional().describe("Default: made from the numbers of the answer and the block."),
      input: z.record(z.string(), z.unknown()).optional().describe("The arguments."),
      input_json: z.string().optional().describe("The arguments as text instead, valid or not."),
    })
    .describe("A tool call."),
]);

const fault = z.strictObject({
  code: z.enum(FAULT_CODES).describe("The error that the call fails with."),
  message: z.string().optional(),
  http_status: z.int().optional(),
  retryable: z.boolean().optional().describe("Default: false."),
  retry_after_ms: ms("The wait that the provider asks for, in ms.").optional(),
  after_characters: z
    .int()
    .nonnegative()
    .optional()
    .describe("Fail after so much content; default: at once."),
});

const answer = z.strictObject({
  content: z.array(scriptBlock).optional().describe("The blocks of the answer."),
  stop_reason: z
    .enum(STOP_REASONS)
    .optional()
    .describe("Default: `tool_use` if there is a tool call, else `end_turn`."),
  usage: usage.partial().optional().describe("Default: counted from the lengths, four characters a token."),
  first_delay_ms: ms("Wait before the first piece, in ms.").optional(),
  delay_ms: ms("Wait before every further piece, in ms.").optional(),
  chunk_characters: z.int().positive().optional().describe("The size of a piece."),
  fault: fault.optional().describe("The call fails instead of ending."),
  stall: z.literal(true).optional().describe("After the content the model says nothing more, for ever."),
});

/** A script for the `fake` provider: the model's answers, one for each call, retries included. */
export const scriptSchema = z
  .strictObject({
    $schema: z.string().optional(),
    model: z.string().optional().describe("The model's name; default: `fake`."),
    chunk_characters: z.int().positive().optional().describe("The size of a piece; default: 4."),
    delay_ms: ms("Wait before every piece but the first, in ms; default: 0.").optional(),
    answers: z.array(z.union([z.string().describe("A text answer."), answer])),
  })
  .meta({ id: "script", title: "A script for linefeed's fake provider" });

export type Script = z.infer<typeof scriptSchema>;
export type ScriptAnswer = z.infer<typeof answer>;
export type ScriptBlock = z.infer<typeof scriptBlock>;

/**
 * Reads a script.
 * @param file the name for error messages.
 * @throws AgentError `config` naming file and field.
 */
export function parseScript(json: string, file: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new AgentError(
      "config",
      `${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const parsed = scriptSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    (issue) => `${issue.path.map(String).join(".") || "the whole"}: ${issue.message}`,
  );
  throw new AgentError("config", `${file} is no script for --fake: ${issues.join("; ")}`);
}
