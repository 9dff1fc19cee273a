import * as z from "zod";
import { ERROR_CODES } from "./errors.ts";

const text = z
  .object({ type: z.literal("text"), text: z.string().describe("The text.") })
  .meta({ id: "TextBlock", description: "Text." });

const thinking = z
  .object({
    type: z.literal("thinking"),
    thinking: z.string().describe("The thinking."),
    signature: z.string().optional().describe("Opaque; the provider wants it back unchanged."),
  })
  .meta({
    id: "ThinkingBlock",
    description: "The model's thinking, or the summary of it that the provider gives.",
  });

const redactedThinking = z
  .object({ type: z.literal("redacted_thinking"), data: z.string().describe("Opaque.") })
  .meta({ id: "RedactedThinkingBlock", description: "Thinking that the provider encrypted; opaque." });

const toolUse = z
  .object({
    type: z.literal("tool_use"),
    id: z.string().describe("The call's id."),
    name: z.string().describe("The tool's name."),
    input: z.unknown().describe("The arguments as the model wrote them; `{}` if they were no JSON."),
    invalid_json: z
      .string()
      .optional()
      .describe("The arguments' text, where it was no JSON or was cut off; such a call never runs."),
  })
  .meta({ id: "ToolUseBlock", description: "A tool call." });

const other = z
  .object({
    type: z.literal("other"),
    raw: z
      .record(z.string(), z.unknown())
      .describe("The provider's block, unchanged; it goes back with the next request."),
  })
  .meta({ id: "OtherBlock", description: "A block that this version does not know." });

/** A block of the model's message, in the shape of Anthropic's Messages API. */
export const contentBlock = z.discriminatedUnion("type", [text, thinking, redactedThinking, toolUse, other]);
export type ContentBlock = z.infer<typeof contentBlock>;
export type ToolUseBlock = z.infer<typeof toolUse>;

const image = z
  .object({
    type: z.literal("image"),
    source: z
      .discriminatedUnion("type", [
        z.object({
          type: z.literal("base64"),
          media_type: z
            .enum(["image/png", "image/jpeg", "image/gif", "image/webp"])
            .describe("The kind of image."),
          data: z.string().describe("The image, in base64."),
        }),
        z.object({ type: z.literal("url"), url: z.string().describe("Where the image is.") }),
      ])
      .describe("The image itself, or where it is."),
  })
  .meta({ id: "ImageBlock", description: "An image." });

/** A block of a user's prompt or of a tool's result. */
export const inputBlock = z.discriminatedUnion("type", [text, image], 'must be "text" or "image"');
export type InputBlock = z.infer<typeof inputBlock>;

export const promptContent = z.union([z.string(), z.array(inputBlock)]);
export type PromptContent = z.infer<typeof promptContent>;

const tokens = (description: string) => z.int().nonnegative().describe(description);

/** Tokens of one model call, or a total of several. The four counts do not overlap. */
export const usage = z
  .object({
    input_tokens: tokens("Input tokens that were neither read from nor written to the cache."),
    output_tokens: tokens("Output tokens, thinking included."),
    cache_read_input_tokens: tokens("Input tokens read from the provider's cache."),
    cache_creation_input_tokens: tokens("Input tokens written to the provider's cache."),
  })
  .meta({
    id: "Usage",
    description: "Tokens. The four counts do not overlap; their sum is what was processed.",
  });
export type Usage = z.infer<typeof usage>;

/** The one shape of an error; the counterpart of `ErrorInfo`. */
export const errorInfo = z
  .object({
    code: z.enum(ERROR_CODES).describe("What went wrong, as one word."),
    message: z.string().describe("For a person: what happened and what to do next."),
    http_status: z.int().nullable().describe("The provider's HTTP status, if there was one."),
    retryable: z.boolean().describe("Whether the same command may succeed later."),
    provider: z.string().nullable().describe("The provider that failed, if one did."),
    request_id: z.string().nullable().describe("The provider's id of the request, for its support."),
  })
  .meta({ id: "Error", description: "An error." });
