// It loads zod, so it is itself loaded only behind the `init` line.
import type { PromptContent } from "../protocol/content.ts";
import { parseUserMessage } from "../protocol/input.ts";

const SHAPE = 'write {"type":"user","text":"…"}';

/** What a line of `--input-format jsonl` says, or why it says nothing, in words that name the field. */
export type LineRead = { prompt: PromptContent } | { fault: string };

export function readMessageLine(line: string): LineRead {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { fault: `it is not JSON (${error instanceof Error ? error.message : String(error)}); ${SHAPE}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { fault: `it is no JSON object; ${SHAPE}` };
  const { data, error } = parseUserMessage(value);
  if (error) return { fault: error.issues.map(faultText).join("; ") };
  return { prompt: data.text === undefined ? data.content : data.text };
}

function faultText({ path, message }: { path: PropertyKey[]; message: string }): string {
  return `${path.map(String).join(".")}: ${message}`;
}
