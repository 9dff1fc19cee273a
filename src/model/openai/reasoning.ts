import { isRecord, string, type Json } from "../json.ts";

/** The names under which servers send thinking as text. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;
export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** A piece of thinking, and the field that it came in, if that was text. */
export interface Reasoning {
  text: string;
  field: ReasoningField | undefined;
}

/** The thinking in a delta. Servers that send it under two names say the same twice, so one counts. */
export function reasoningOf(delta: Json): Reasoning | undefined {
  for (const field of REASONING_FIELDS) {
    const text = string(delta[field]);
    if (text !== "") return { text, field };
  }
  const text = detailsText(delta["reasoning_details"]);
  return text === "" ? undefined : { text, field: undefined };
}

/** OpenRouter's list of parts: text, summaries, and encrypted ones that say nothing. */
function detailsText(details: unknown): string {
  if (!Array.isArray(details)) return "";
  return details
    .filter(isRecord)
    .map((part) => string(part["text"]) || string(part["summary"]))
    .join("");
}
