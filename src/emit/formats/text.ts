import type { EventOf } from "../../protocol/event.ts";
import type { Format } from "./format.ts";

/** The final answer of each turn, newline ended. What went wrong stands on stderr and in the exit code. */
export function textFormat(): Format {
  let answer = "";
  return {
    event(event) {
      if (event.type === "turn_start" || event.type === "step_start") answer = "";
      if (event.type === "message") answer = answerOf(event);
      if (event.type !== "turn_end" || answer === "") return undefined;
      return answer.endsWith("\n") ? answer : `${answer}\n`;
    },
  };
}

/** The text of an answer; a message that asks for tools is none. */
export function answerOf(message: EventOf<"message">): string {
  if (message.content.some((block) => block.type === "tool_use")) return "";
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
