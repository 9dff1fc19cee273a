import type { EventBody } from "../protocol/event.ts";

/** The model's stream is always read on; whatever comes between streams may wait for a slow reader. */
export function mayWait(body: EventBody): boolean {
  switch (body.type) {
    case "message":
    case "tool_output_delta":
    case "tool_end":
    case "step_end":
    case "turn_end":
      return true;
    default:
      return false;
  }
}
