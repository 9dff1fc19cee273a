import type { ErrorCode } from "../../protocol/errors.ts";
import { ModelError } from "../client.ts";
import type { ErrorContext } from "../endpoint.ts";
import { excerpt, isRetryableStatus, retryAfterMs } from "../http.ts";
import type { Dialect } from "../http-call.ts";
import { describe, hint, sentence, STATUSES, wordsOf, type FailedAnswer } from "../http-errors.ts";
import { isRecord, record, string } from "../json.ts";

/** The words of Anthropic's error objects (https://docs.anthropic.com/en/api/errors). */
const TYPES: ReadonlyMap<string, { code: ErrorCode; retryable: boolean }> = new Map([
  ["invalid_request_error", { code: "invalid_request", retryable: false }],
  ["authentication_error", { code: "authentication", retryable: false }],
  ["billing_error", { code: "billing", retryable: false }],
  ["permission_error", { code: "permission", retryable: false }],
  ["not_found_error", { code: "not_found", retryable: false }],
  ["request_too_large", { code: "context_overflow", retryable: false }],
  ["rate_limit_error", { code: "rate_limit", retryable: true }],
  ["api_error", { code: "server_error", retryable: true }],
  ["timeout_error", { code: "server_error", retryable: true }],
  ["overloaded_error", { code: "overloaded", retryable: true }],
]);

// Both come as `invalid_request_error`, so only the sentence tells them from a bad request.
const CONTEXT_OVERFLOW =
  /prompt is too long|input is too long|too many (input )?tokens|exceeds? (the )?(model'?s? )?(maximum )?context|context (window|limit|length)/i;
const NO_CREDIT = /credit balance|spend limit/i;

/** What Anthropic's answers and errors mean. */
export const ANTHROPIC_DIALECT: Dialect = {
  requestIdHeaders: ["request-id"],
  httpError,
  reportedError: (json, context) =>
    isRecord(json) && isRecord(json["error"]) ? streamError(json, context) : undefined,
};

/** The error for an answer with an HTTP status that is no success. */
function httpError(answer: FailedAnswer, context: ErrorContext): ModelError {
  const error = errorObject(answer.json);
  const said = error ? error.message : wordsOf(answer, context);
  const code = codeOf(answer.status, error?.type ?? "", said);
  const where = `HTTP ${answer.status} from ${context.host}`;
  return new ModelError(code, sentence(context.redact(said), where, hint(code, context)), {
    httpStatus: answer.status,
    retryable: isRetryableStatus(answer.status, answer.headers),
    requestId: answer.headers.get("request-id"),
    retryAfterMs: retryAfterMs(answer.headers),
  });
}

/** The error for an error object that came inside a successful answer. */
export function streamError(json: unknown, context: ErrorContext): ModelError {
  const error = errorObject(json) ?? { type: "", message: excerpt(context.redact(describe(json))) };
  const known = TYPES.get(error.type) ?? { code: "server_error", retryable: true };
  const code = known.code === "invalid_request" ? refine(known.code, error.message) : known.code;
  const where = `${error.type || "an error"} from ${context.host}, inside its answer`;
  return new ModelError(code, sentence(context.redact(error.message), where, hint(code, context)), {
    retryable: known.retryable,
    requestId: string(record(json)["request_id"]) || null,
  });
}

function codeOf(status: number, type: string, said: string): ErrorCode {
  const code = STATUSES.get(status) ?? (status >= 500 ? "server_error" : TYPES.get(type)?.code);
  return refine(code ?? "invalid_request", said);
}

function refine(code: ErrorCode, said: string): ErrorCode {
  if (code !== "invalid_request" && code !== "permission") return code;
  if (NO_CREDIT.test(said)) return "billing";
  return code === "invalid_request" && CONTEXT_OVERFLOW.test(said) ? "context_overflow" : code;
}

/** Anthropic's shape is `{type: "error", error: {type, message}}`; gateways leave parts of it out. */
function errorObject(json: unknown): { type: string; message: string } | undefined {
  const error = record(json)["error"];
  if (typeof error === "string") return { type: "", message: error };
  if (!isRecord(error) || typeof error["message"] !== "string") return undefined;
  return { type: string(error["type"]), message: error["message"] };
}
