import type { StopReason } from "../../protocol/words.ts";
import { ModelError } from "../client.ts";
import type { ErrorContext } from "../endpoint.ts";
import { hint, sentence } from "../http-errors.ts";
import { streamError } from "./errors.ts";

/** Finish reasons; beyond OpenAI's five those of servers that hand on the words of the model behind them. */
const REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["stop", "end_turn"],
  ["end_turn", "end_turn"],
  ["eos", "end_turn"],
  ["stop_sequence", "stop_sequence"],
  ["tool_calls", "tool_use"],
  ["tool_use", "tool_use"],
  ["function_call", "tool_use"],
  ["length", "max_tokens"],
  ["max_tokens", "max_tokens"],
  ["model_length", "model_context_window_exceeded"],
  ["content_filter", "refusal"],
  ["refusal", "refusal"],
  ["safety", "refusal"],
]);

/** What says that the server, not the model, ended the answer (OpenRouter, vLLM, DeepSeek, Zhipu). */
const BROKEN = /^(error|abort(ed)?|network_error|insufficient_system_resource)$/;

/** What a finish reason means: a stop reason, a failure, or undefined where nobody knows. */
export function finishOf(word: string, context: ErrorContext): StopReason | ModelError | undefined {
  const name = word.toLowerCase();
  const reason = REASONS.get(name);
  if (reason !== undefined || !BROKEN.test(name)) return reason;
  if (name === "error")
    return streamError({ message: "the answer ended in an error", words: [], status: undefined }, context);
  const code = name === "insufficient_system_resource" ? "overloaded" : "stream_interrupted";
  const where = `finish reason ${name} from ${context.host}`;
  return new ModelError(code, sentence("the server broke off the answer", where, hint(code, context)), {
    retryable: true,
  });
}
