import * as z from "zod";
import { inputBlock, type InputBlock } from "./content.ts";

const notBlank = /\S/;
const type = z.literal("user", 'must be "user"').describe("Whose message this is.");

const textMessage = z
  .object({
    type,
    text: z
      .string({ error: ({ input }) => (input === undefined ? "is missing" : "must be a string") })
      .regex(notBlank, "is blank")
      .describe("The prompt; more than white space. It reaches the model unchanged."),
    content: z.never("must not stand beside text: give one of the two").optional(),
  })
  .meta({ id: "TextMessage", description: "A prompt of text alone." });

const blockMessage = z
  .object({
    type,
    content: z
      .array(inputBlock, "must be a list of blocks")
      .min(1, { error: "is empty", abort: true })
      .refine(hasSubstance, "is blank")
      .superRefine(checkImages)
      .describe(
        "The prompt as blocks, of which one at least is an image or text that is more than white space.",
      ),
    text: z.never("must not stand beside content: give one of the two").optional(),
  })
  .meta({ id: "BlockMessage", description: "A prompt of text and images." });

/**
 * One line of stdin under `--input-format jsonl`. Fields that it does not name are accepted and ignored.
 * As with scripts, this is our input: its words are as closed as the parser that reads it.
 */
export const userMessage = z
  .union([textMessage, blockMessage])
  .meta({ id: "input", title: "A line of stdin under --input-format jsonl" });
export type UserMessage = z.infer<typeof userMessage>;

/** Reads a message; its faults are told in terms of the one of the two shapes that was meant. */
export function parseUserMessage(value: object): z.ZodSafeParseResult<UserMessage> {
  return "content" in value && !("text" in value)
    ? blockMessage.safeParse(value)
    : textMessage.safeParse(value);
}

function hasSubstance(blocks: readonly InputBlock[]): boolean {
  return blocks.some((block) => block.type !== "text" || notBlank.test(block.text));
}

/**
 * What every provider would refuse. A refused image stays in the conversation's way for all that follows, so
 * it is better met here.
 */
function checkImages(blocks: readonly InputBlock[], context: z.RefinementCtx): void {
  for (const [index, block] of blocks.entries()) {
    if (block.type !== "image") continue;
    const { source } = block;
    const [field, fault] =
      source.type === "base64"
        ? ["data", isBase64(source.data) ? undefined : "is not base64"]
        : ["url", isWebAddress(source.url) ? undefined : "is no http or https address"];
    if (fault !== undefined)
      context.addIssue({ code: "custom", path: [index, "source", field], message: fault });
  }
}

// Without a repeated group, which would overflow the regular expression's stack on a large image.
function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ""));
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
