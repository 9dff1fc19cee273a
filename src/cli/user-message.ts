// It loads zod, so it is itself loaded only behind the `init` line.
import type { PromptContent } from "../protocol/content.ts";
import { parseUserMessage } from "../protocol/input.ts";

const SHAPE = 'write {"type":"user","text":"…"}';

/** A line of 10 MiB may have a great many. */
const MAX_FAULTS = 3;

interface Issue {
  path: PropertyKey[];
  message: string;
}

/** What a line of `--input-format jsonl` says, or why it says nothing, in words that name the field. */
export type LineRead = { prompt: PromptContent } | { fault: string };

/** Reads a line without its end. Never throws. */
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
  if (error) return { fault: faultsText(error.issues) };
  return { prompt: data.text === undefined ? data.content : data.text };
}

/** What is wrong with a message, field by field. */
export function faultsText(issues: readonly Issue[]): string {
  const more = issues.length - MAX_FAULTS;
  const texts = issues.slice(0, MAX_FAULTS).map(faultText);
  return [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function faultText({ path, message }: Issue): string {
  return `${path.map(String).join(".")}: ${message}`;
}
