import type { ErrorCode, ErrorInfo } from "../../../protocol/errors.ts";

/** The subtypes of `result` that are no success. */
type FailedSubtype = "error_during_execution" | "error_max_turns" | "error_max_budget_usd";

/** How clients are told of a failure: as an answer that is an error, with a word for its kind, or as a subtype. */
type Telling = { kind: "answer"; word: string } | { kind: "subtype"; subtype: FailedSubtype };

const answer = (word: string): Telling => ({ kind: "answer", word });
const subtype = (name: FailedSubtype): Telling => ({ kind: "subtype", subtype: name });

/**
 * A failed model call is `success` with `is_error`, behind an assistant message with its text: that is how both SDKs know it.
 * The words are those of the field `error` of that message.
 */
const TELLINGS: Record<ErrorCode, Telling> = {
  authentication: answer("authentication_failed"),
  permission: answer("authentication_failed"),
  billing: answer("billing_error"),
  not_found: answer("model_not_found"),
  invalid_request: answer("invalid_request"),
  context_overflow: answer("invalid_request"),
  rate_limit: answer("rate_limit"),
  overloaded: answer("overloaded"),
  server_error: answer("server_error"),
  network: answer("unknown"),
  stream_interrupted: answer("unknown"),
  idle_timeout: answer("unknown"),
  malformed_response: answer("unknown"),
  refusal: answer("unknown"),
  empty_answer: answer("unknown"),
  max_tokens: answer("max_output_tokens"),
  max_steps: subtype("error_max_turns"),
  max_budget: subtype("error_max_budget_usd"),
  timeout: subtype("error_during_execution"),
  denied: subtype("error_during_execution"),
  cancelled: subtype("error_during_execution"),
  reader_closed: subtype("error_during_execution"),
  lost_worker: subtype("error_during_execution"),
  usage: subtype("error_during_execution"),
  config: subtype("error_during_execution"),
  io: subtype("error_during_execution"),
  agent_error: answer("unknown"),
  internal: subtype("error_during_execution"),
};

/** The subtype of the `result` of a failure. @param asked as for {@link isAnswer}. */
export function subtypeOf(error: ErrorInfo, asked: boolean): "success" | FailedSubtype {
  if (isAnswer(error, asked)) return "success";
  const telling = TELLINGS[error.code];
  return telling.kind === "subtype" ? telling.subtype : "error_during_execution";
}

/**
 * Whether a failure is told as if it were the model's answer.
 * @param asked whether the model was asked at all: without that, nothing can be its answer.
 */
export function isAnswer({ code }: ErrorInfo, asked: boolean): boolean {
  return asked && TELLINGS[code].kind === "answer";
}

/** The word for a model call that failed and is tried again. */
export function wordOf({ code }: ErrorInfo): string {
  const telling = TELLINGS[code];
  return telling.kind === "answer" ? telling.word : "unknown";
}
