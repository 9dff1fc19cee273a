import type { ErrorCode } from "../../protocol/errors.ts";
import { ModelError } from "../client.ts";
import type { ErrorContext } from "../endpoint.ts";
import { isRetryableStatus, retryAfterMs } from "../http.ts";
import type { Dialect } from "../http-call.ts";
import { hint, sentence, STATUSES, wordsOf, type FailedAnswer } from "../http-errors.ts";
import { reportOf, type Report } from "./error-report.ts";

/** What the answers and errors of Chat Completions mean. */
export const OPENAI_DIALECT: Dialect = {
  requestIdHeaders: ["x-request-id", "request-id", "x-generation-id"],
  httpError,
  reportedError,
};

/** What some servers call their errors, under `code` or `type`; by lower case, since vLLM names Python classes. */
const WORDS: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ["context_length_exceeded", "context_overflow"],
  ["exceed_context_size_error", "context_overflow"],
  ["request_too_large", "context_overflow"],
  ["insufficient_quota", "billing"],
  ["billing_not_active", "billing"],
  ["billing_hard_limit_reached", "billing"],
  ["insufficient_balance", "billing"],
  ["payment_required", "billing"],
  ["content_filter", "refusal"],
  ["content_policy_violation", "refusal"],
  ["model_not_found", "not_found"],
  ["not_found_error", "not_found"],
  ["notfounderror", "not_found"],
  ["invalid_api_key", "authentication"],
  ["authentication_error", "authentication"],
  ["permission_error", "permission"],
  ["permission_denied", "permission"],
  ["rate_limit_exceeded", "rate_limit"],
  ["rate_limit_error", "rate_limit"],
  ["overloaded_error", "overloaded"],
  ["engine_overloaded", "overloaded"],
  ["unavailable_error", "overloaded"],
  ["service_unavailable", "overloaded"],
  ["invalid_request_error", "invalid_request"],
  ["badrequesterror", "invalid_request"],
]);

/** What a word says better than the status beside it: OpenAI's 429 for want of money, llama.cpp's 500 for a long prompt. */
const TELLING: readonly ErrorCode[] = ["context_overflow", "billing", "refusal", "not_found"];
/** Trying again is of no use, whatever the status. */
const FINAL: readonly ErrorCode[] = ["context_overflow", "billing", "refusal"];
const RETRYABLE: readonly ErrorCode[] = ["rate_limit", "overloaded", "server_error"];

// What servers say where they have no word for it.
const CONTEXT_OVERFLOW =
  /context[ _-]?(length|window|size|limit)|context the overflows|maximum (prompt|model|context) length|(prompt|input) (is )?too long|too many (input )?tokens|input token count|maximum number of tokens|too large for model|reduce the length/i;
const NO_CREDIT = /credit balance|(insufficient|more|out of) (credits?|balance|funds)|insufficient quota/i;
const NO_MODEL = /not a valid model|no such model|model .{0,100}(not found|does not exist|not exist)/i;

function httpError(answer: FailedAnswer, context: ErrorContext): ModelError {
  const report = reportOf(answer.json, true);
  const said = report?.message ?? wordsOf(answer, context);
  const code = codeOf(answer.status, report, said);
  const where = `HTTP ${answer.status} from ${context.host}`;
  return new ModelError(code, sentence(context.redact(said), where, advice(code, said, context)), {
    httpStatus: answer.status,
    retryable: isRetryableStatus(answer.status, answer.headers) && !FINAL.includes(code),
    retryAfterMs: retryAfterMs(answer.headers),
  });
}

function advice(code: ErrorCode, said: string, context: ErrorContext): string {
  if (/reasoning_effort/.test(said))
    return "leave out --effort and --thinking off, which set reasoning_effort";
  const advised = hint(code, context);
  // The commonest slip by far.
  return code === "not_found" ? `${advised}; an address of this kind mostly ends in /v1` : advised;
}

function reportedError(json: unknown, context: ErrorContext): ModelError | undefined {
  const report = reportOf(json, false);
  return report && streamError(report, context);
}

/** The error for one that was reported inside a success. */
export function streamError(report: Report, context: ErrorContext): ModelError {
  const code = codeOf(report.status, report, report.message);
  const what = report.words[0] ?? (report.status === undefined ? "an error" : `error ${report.status}`);
  const where = `${what} from ${context.host}, inside its answer`;
  return new ModelError(code, sentence(context.redact(report.message), where, hint(code, context)), {
    retryable: RETRYABLE.includes(code),
  });
}

function codeOf(status: number | undefined, report: Report | undefined, said: string): ErrorCode {
  const word = report?.words.map((name) => WORDS.get(name)).find((code) => code !== undefined);
  if (word !== undefined && TELLING.includes(word)) return word;
  return refine(
    statusCode(status) ?? word ?? (isClientFault(status) ? "invalid_request" : "server_error"),
    said,
  );
}

function statusCode(status: number | undefined): ErrorCode | undefined {
  if (status === undefined) return undefined;
  return STATUSES.get(status) ?? (status >= 500 ? "server_error" : undefined);
}

function isClientFault(status: number | undefined): boolean {
  return status !== undefined && status < 500;
}

function refine(code: ErrorCode, said: string): ErrorCode {
  if (code !== "invalid_request" && code !== "server_error" && code !== "permission") return code;
  if (NO_CREDIT.test(said)) return "billing";
  if (code !== "permission" && CONTEXT_OVERFLOW.test(said)) return "context_overflow";
  return code === "invalid_request" && NO_MODEL.test(said) ? "not_found" : code;
}
