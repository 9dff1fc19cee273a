import type { DoneChunk } from "../model/client.ts";
import { AgentError } from "../protocol/errors.ts";
import type { UsageTotal } from "../protocol/usage.ts";
import { limitReached, type Limits } from "./limits.ts";

/** What a message without calls is: the end of the turn, in order or not, or a pause. */
export type Verdict =
  | { kind: "answer"; text: string | null; error: AgentError | null }
  | { kind: "continue" };

/** Judges a message that asks for no tool. */
export function judgeAnswer(message: DoneChunk): Verdict {
  if (message.stopReason === "pause_turn") return { kind: "continue" };
  const text = textOf(message);
  const stopped = stopError(message);
  if (stopped) return { kind: "answer", text: text === "" ? null : text, error: stopped };
  if (text.trim() === "") {
    const error = new AgentError("empty_answer", "the model ended its turn without a word of text");
    return { kind: "answer", text: null, error };
  }
  return { kind: "answer", text, error: null };
}

/** Why the calls of a message must not run at all; undefined if they may. */
export function judgeCalls(
  message: DoneChunk,
  state: { cutInARow: number; steps: number; usage: UsageTotal; limits: Limits },
): AgentError | undefined {
  const stopped = stopError(message);
  // One answer that was cut inside a call goes back to the model; a second in a row will not get better.
  if (stopped && (stopped.code !== "max_tokens" || state.cutInARow > 1)) return stopped;
  return limitReached(state.steps, state.usage, state.limits);
}

function textOf(message: DoneChunk): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function stopError(message: DoneChunk): AgentError | undefined {
  switch (message.stopReason) {
    case "max_tokens":
      return new AgentError("max_tokens", "the answer was cut at the token limit; raise --max-tokens");
    case "refusal":
      return new AgentError("refusal", "the model refused to answer");
    case "model_context_window_exceeded":
      return new AgentError(
        "context_overflow",
        "the answer was cut where the model's context was full; start a new session",
      );
    case "end_turn":
    case "tool_use":
    case "stop_sequence":
    case "pause_turn":
    case null:
      return undefined;
    default:
      return message.stopReason satisfies never;
  }
}
