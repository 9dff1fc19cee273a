import type { EventType } from "../protocol/events.ts";
import { isPlainTime } from "./schema-check.ts";

type Fields = Record<string, unknown>;

/**
 * Whether an event is plainly a sound delta: nine in ten lines are, and to say so by hand costs a quarter of what the
 * schema's check does. It says yes only where the schema does (a test compares them); a no means that the schema has to be
 * asked.
 */
export function isPlainDelta(type: EventType, event: Fields): boolean {
  switch (type) {
    case "text_delta":
    case "thinking_delta":
      return typeof event["text"] === "string" && isInBlock(event) && isPlainHead(event);
    case "tool_input_delta":
      return (
        typeof event["partial_json"] === "string" && isOfCall(event) && isInBlock(event) && isPlainHead(event)
      );
    case "tool_output_delta":
      return (
        typeof event["text"] === "string" &&
        typeof event["stream"] === "string" &&
        typeof event["tool_use_id"] === "string" &&
        isPlainHead(event)
      );
    default:
      return false;
  }
}

function isPlainHead(event: Fields): boolean {
  const { seq, ts } = event;
  if (!isCount(seq, 0) || typeof ts !== "string" || !isPlainTime(ts)) return false;
  return typeof event["session_id"] === "string" && event["parent_tool_use_id"] === undefined;
}

function isInBlock(event: Fields): boolean {
  return isCount(event["step"], 1) && isCount(event["block"], 0);
}

function isOfCall(event: Fields): boolean {
  return typeof event["tool_use_id"] === "string" && typeof event["name"] === "string";
}

function isCount(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && typeof value === "number" && value >= least;
}
