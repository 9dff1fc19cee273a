import * as z from "zod";
import { usage } from "../../protocol/content.ts";
import { AgentError } from "../../protocol/errors.ts";
import { NOTICES, STOP_REASONS, type NoticeCode } from "../../protocol/words.ts";
import { FAULT_CODES } from "./fault-codes.ts";

const REPLAY_SPEEDS = ["recorded", "full"] as const;

const noticeCodes = Object.keys(NOTICES) as [NoticeCode, ...NoticeCode[]];

const ms = (description: string) => z.number().nonnegative().describe(description);
const offset = (description: string) => z.int().nonnegative().describe(description);

const scriptBlock = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().optional() }),
  z
    .strictObject({
      type: z.literal("tool_use"),
      name: z.string(),
      id: z.string().optional().describe("Default: made from the numbers of the answer and the block."),
      input: z.record(z.string(), z.unknown()).optional().describe("The arguments."),
      input_json: z
        .string()
        .optional()
        .describe("The arguments as text instead, valid or not; counts more than `input`."),
      cut: z
        .literal(true)
        .optional()
        .describe("The arguments count as cut off, even if they are valid: the call never runs."),
    })
    .describe("A tool call."),
  z
    .strictObject({ type: z.literal("redacted_thinking"), data: z.string() })
    .describe("Thinking that the provider encrypted."),
  z
    .strictObject({ type: z.literal("other"), raw: z.record(z.string(), z.unknown()) })
    .describe("A provider's block of a kind that linefeed does not know."),
]);

const fault = z.strictObject({
  code: z.enum(FAULT_CODES).describe("The error that the call fails with."),
  message: z.string().optional(),
  http_status: z.int().optional(),
  retryable: z.boolean().optional().describe("Default: false."),
  retry_after_ms: ms("The wait that the provider asks for, in ms.").optional(),
  provider: z.string().nullable().optional().describe("The provider that the error names; default: `fake`."),
  request_id: z.string().optional().describe("The request that the error names; default: none."),
  after_characters: offset("Fail after so much content; default: at once.").optional(),
});

const notice = z.strictObject({
  code: z.enum(noticeCodes),
  message: z.string(),
  after_characters: offset("Comes after so much content; default: at once.").optional(),
});

/** One value for all, or one for each piece. */
const each = <Value extends z.ZodType>(value: Value) => z.union([value, z.array(value)]);

const answer = z.strictObject({
  content: z.array(scriptBlock).optional().describe("The blocks of the answer."),
  id: z.string().optional().describe("The message's id; default: made from the number of the answer."),
  model: z.string().optional().describe("The model that the message names; default: the one asked for."),
  request_id: z
    .string()
    .nullable()
    .optional()
    .describe("The request that the message names; default: made from the number of the answer."),
  stop_reason: z
    .enum(STOP_REASONS)
    .nullable()
    .optional()
    .describe("Default: `tool_use` if there is a tool call, else `end_turn`."),
  usage: usage
    .partial()
    .nullable()
    .optional()
    .describe(
      "Default: counted from the lengths, four characters a token; null, and what a `fault` has by default: unknown.",
    ),
  first_delay_ms: ms("Wait before the first piece, in ms.").optional(),
  delay_ms: each(z.number().nonnegative())
    .optional()
    .describe("Wait before every further piece, in ms; a list: before the second, the third, …, then none."),
  last_delay_ms: ms("Wait after the last piece, in ms.").optional(),
  chunk_characters: each(z.int().positive())
    .optional()
    .describe(
      "The size of a piece, in UTF-16 units; a list: of the first, the second, …, then 4. A piece ends with its block.",
    ),
  notices: z.array(notice).optional().describe("What the provider is said to have sent besides."),
  fault: fault.optional().describe("The call fails instead of ending."),
  stall: z.literal(true).optional().describe("After the content the model says nothing more, for ever."),
});

/** A script for the `fake` provider: the model's answers, one for each call, retries included. */
export const scriptSchema = z
  .strictObject({
    $schema: z.string().optional(),
    model: z.string().optional().describe("The model's name; default: `fake`."),
    replay_speed: z
      .enum(REPLAY_SPEEDS)
      .optional()
      .describe(
        "Whether waits are kept, also those before a retry: `recorded`, the default, keeps them, `full` leaves them out. `--replay-speed` wins.",
      ),
    chunk_characters: z.int().positive().optional().describe("The size of a piece; default: 4."),
    delay_ms: ms("Wait before every piece but the first, in ms; default: 0.").optional(),
    answers: z.array(z.union([z.string().describe("A text answer."), answer])),
  })
  .meta({ id: "script", title: "A script for linefeed's fake provider" });

export type Script = z.infer<typeof scriptSchema>;
export type ScriptAnswer = z.infer<typeof answer>;
export type ScriptBlock = z.infer<typeof scriptBlock>;
export type ScriptFault = z.infer<typeof fault>;
export type ScriptNotice = z.infer<typeof notice>;

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
