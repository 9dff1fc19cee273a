// What Claude Code and Qwen Code share: the shapes of Anthropic's Messages API.
import type { InputBlock, Usage } from "../../protocol/content.ts";
import { STOP_REASONS, type StopReason } from "../../protocol/words.ts";
import { isObject } from "../schema-check.ts";
import type { Denial } from "./calls.ts";
import { countOf, objectOf, objectsOf, textOf, type Fields } from "./fields.ts";

/** Tokens as Anthropic counts them; null where there are none. */
export function usageOf(usage: Fields | undefined): Usage | null {
  const input = countOf(usage, "input_tokens");
  const output = countOf(usage, "output_tokens");
  if (input === null && output === null) return null;
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    cache_read_input_tokens: countOf(usage, "cache_read_input_tokens") ?? 0,
    cache_creation_input_tokens: countOf(usage, "cache_creation_input_tokens") ?? 0,
  };
}

/** Nothing but zeros means that nothing was reported. */
export function reported(usage: Usage | null): Usage | null {
  return usage && Object.values(usage).some((tokens) => tokens > 0) ? usage : null;
}

/** The totals of each model in a `result`. */
export function usageByModelOf(result: Fields): Record<string, Usage> | undefined {
  const models = objectOf(result, "modelUsage");
  if (!models) return undefined;
  return Object.fromEntries(
    Object.entries(models).flatMap(([model, usage]) => {
      if (!isObject(usage)) return [];
      const tokens = (name: string) => countOf(usage, name) ?? 0;
      const counts: Usage = {
        input_tokens: tokens("inputTokens"),
        output_tokens: tokens("outputTokens"),
        cache_read_input_tokens: tokens("cacheReadInputTokens"),
        cache_creation_input_tokens: tokens("cacheCreationInputTokens"),
      };
      return [[model, counts]];
    }),
  );
}

export function stopReasonOf(message: Fields | undefined): StopReason | null {
  const word = textOf(message, "stop_reason");
  return STOP_REASONS.find((reason) => reason === word) ?? null;
}

/** The calls that a `result` lists as denied. */
export function denialsOf(result: Fields): Denial[] {
  return objectsOf(result, "permission_denials").map((denial) => ({
    tool_use_id: textOf(denial, "tool_use_id") ?? "",
    name: textOf(denial, "tool_name") ?? "",
    input: denial["tool_input"] ?? {},
    reason: "",
  }));
}

/** The content of a prompt or of a call's result. What is neither text nor an image is told as its JSON. */
export function contentOf(content: unknown): string | InputBlock[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter(isObject).map(inputBlockOf);
}

/** All text of a content. */
export function plainTextOf(content: string | InputBlock[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

function inputBlockOf(block: Fields): InputBlock {
  const { type, text } = block;
  if (type === "text" && typeof text === "string") return { type, text };
  const source = objectOf(block, "source");
  const data = textOf(source, "data");
  const mediaType = IMAGES.find((name) => name === source?.["media_type"]);
  if (type === "image" && data !== null && mediaType) {
    return { type, source: { type: "base64", media_type: mediaType, data } };
  }
  const url = textOf(source, "url");
  if (type === "image" && url !== null) return { type, source: { type: "url", url } };
  return { type: "text", text: JSON.stringify(block) };
}
