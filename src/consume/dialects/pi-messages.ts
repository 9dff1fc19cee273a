import type { ContentBlock, InputBlock, Usage } from "../../protocol/content.ts";
import type { ErrorInfo } from "../../protocol/errors.ts";
import type { StopReason } from "../../protocol/words.ts";
import { callBlock } from "./blocks.ts";
import type { CallEnd } from "./calls.ts";
import { failure } from "./failure.ts";
import { countOf, objectOf, objectsOf, textOf, wordOf, type Fields } from "./fields.ts";
import type { RecordFacts } from "./open-step.ts";

const STOPS: Record<string, StopReason> = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" };
/** How the result of a failed command ends; later versions say so in a field too. */
const EXIT_CODE = /Command exited with code (\d{1,3})\s*$/;
/** A failed model call is told as the provider's words, with the HTTP status in front. */
const STATUS = /^([45]\d\d)\b/;

/** The blocks of an assistant's message. */
export function blocksOf(message: Fields): ContentBlock[] {
  return objectsOf(message, "content").map(blockOf);
}

function blockOf(raw: Fields): ContentBlock {
  const { type, text, thinking, thinkingSignature, id, name } = raw;
  if (type === "text" && typeof text === "string") return { type, text };
  const signature = typeof thinkingSignature === "string" ? thinkingSignature : "";
  if (type === "thinking" && raw["redacted"] === true) return { type: "redacted_thinking", data: signature };
  if (type === "thinking" && typeof thinking === "string") {
    return { type, thinking, ...(signature === "" ? {} : { signature }) };
  }
  if (type === "toolCall" && typeof id === "string" && typeof name === "string") {
    return callBlock(id, name, raw["arguments"]);
  }
  return { type: "other", raw: { ...raw } };
}

export function recordFacts(message: Fields): RecordFacts {
  const reason = textOf(message, "stopReason") ?? "";
  return {
    id: wordOf(message, "responseId"),
    model: wordOf(message, "responseModel") ?? wordOf(message, "model"),
    stopReason: Object.hasOwn(STOPS, reason) ? STOPS[reason] : null,
    usage: usageOf(objectOf(message, "usage")),
  };
}

function usageOf(usage: Fields | undefined): Usage | null {
  const input = countOf(usage, "input");
  if (input === null) return null;
  return {
    input_tokens: input,
    output_tokens: countOf(usage, "output") ?? 0,
    cache_read_input_tokens: countOf(usage, "cacheRead") ?? 0,
    cache_creation_input_tokens: countOf(usage, "cacheWrite") ?? 0,
  };
}

/** Why a model call failed; null if it did not. */
export function failureOf(message: Fields): ErrorInfo | null {
  const reason = message["stopReason"];
  if (reason !== "error" && reason !== "aborted") return null;
  const said = wordOf(message, "errorMessage");
  if (reason === "aborted") return failure(said ?? "the run was aborted", { code: "cancelled" });
  return callFailure(said ?? "", wordOf(message, "provider"));
}

export function callFailure(message: string, provider: string | null): ErrorInfo {
  const [, status] = STATUS.exec(message) ?? [];
  return failure(message, { status: status === undefined ? null : Number(status), provider });
}

/** The content of a prompt or of a call's result. */
export function contentOf(content: unknown): string | InputBlock[] {
  if (typeof content === "string") return content;
  return objectsOf({ content }, "content").map((block): InputBlock => {
    const { type, text, data, mimeType } = block;
    if (type === "text" && typeof text === "string") return { type, text };
    if (type === "image" && typeof data === "string" && isImage(mimeType)) {
      return { type, source: { type: "base64", media_type: mimeType, data } };
    }
    return { type: "text", text: JSON.stringify(block) };
  });
}

type MediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

function isImage(mimeType: unknown): mimeType is MediaType {
  return ["image/png", "image/jpeg", "image/gif", "image/webp"].some((name) => name === mimeType);
}

/** All text of a content. */
export function textOfContent(content: unknown): string {
  const blocks = contentOf(content);
  if (typeof blocks === "string") return blocks;
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** How a call ended, by the line that tells it. */
export function endOf(line: Fields): CallEnd {
  const result = objectOf(line, "result") ?? line;
  const isError = line["isError"] === true;
  const [, exitCode] = isError ? (EXIT_CODE.exec(textOfContent(result["content"])) ?? []) : [];
  const structured = objectOf(result, "structuredContent");
  const truncation = objectOf(objectOf(result, "details"), "truncation");
  return {
    status: isError ? "error" : "ok",
    content: contentOf(result["content"]),
    exitCode: countOf(structured, "exit_code") ?? (exitCode === undefined ? null : Number(exitCode)),
    durationMs: countOf(line, "durationMs"),
    truncated: structured?.["truncated"] === true || truncation?.["truncated"] === true,
  };
}
