import type { ErrorCode, ErrorInfo } from "../../protocol/errors.ts";
import { failure } from "./failure.ts";
import { countOf, textOf, wordOf, type Fields } from "./fields.ts";

/** Why a model call failed, in Claude Code's words (`assistant.error`, `api_retry.error`). */
const API_ERRORS: Record<string, ErrorCode> = {
  authentication_failed: "authentication",
  oauth_org_not_allowed: "authentication",
  cloud_credential_error: "authentication",
  account_on_hold: "permission",
  verification_required: "permission",
  billing_error: "billing",
  rate_limit: "rate_limit",
  overloaded: "overloaded",
  invalid_request: "invalid_request",
  model_not_found: "not_found",
  server_error: "server_error",
  max_output_tokens: "max_tokens",
};

/** Why a run ended (`result.subtype`, `result.terminal_reason`). */
const ENDS: Record<string, ErrorCode> = {
  error_max_turns: "max_steps",
  max_turns: "max_steps",
  error_max_budget_usd: "max_budget",
  budget_exhausted: "max_budget",
  error_max_structured_output_retries: "malformed_response",
  structured_output_retry_exhausted: "malformed_response",
  malformed_tool_use_exhausted: "malformed_response",
  prompt_too_long: "context_overflow",
  aborted_streaming: "cancelled",
  aborted_tools: "cancelled",
};

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  max_steps: "the limit of turns is reached",
  max_budget: "the budget is used up",
  cancelled: "the run was interrupted",
};

const codeOf = (table: Record<string, ErrorCode>, word: string | null): ErrorCode | undefined =>
  word !== null && Object.hasOwn(table, word) ? table[word] : undefined;

/** The failure of one model call. */
export function apiFailure(word: string | null, message: string, status: number | null): ErrorInfo {
  const code = codeOf(API_ERRORS, word);
  const passing = code === "rate_limit" || code === "overloaded" || code === "server_error";
  return failure(message, { code, status, ...(passing ? { retryable: true } : {}) });
}

/**
 * Why a run failed; null if it did not. A model call that failed comes as a success with `is_error: true`.
 *
 * @param call the failure of the last model call, if one was told.
 */
export function resultFailure(
  result: Fields,
  call: ErrorInfo | null,
  interrupted: boolean,
): ErrorInfo | null {
  const subtype = textOf(result, "subtype");
  const isError = result["is_error"] === true || (subtype !== null && subtype !== "success");
  const code =
    codeOf(ENDS, subtype) ??
    codeOf(ENDS, textOf(result, "terminal_reason")) ??
    (interrupted ? "cancelled" : undefined);
  if (!isError && call === null)
    return code === "cancelled" ? failure(MESSAGES.cancelled ?? "", { code }) : null;
  const status = countOf(result, "api_error_status") ?? call?.http_status ?? null;
  const told = errorsOf(result) ?? wordOf(result, "result") ?? call?.message;
  const message = told ?? (code && MESSAGES[code]) ?? "";
  if (code === undefined && call) return { ...call, message, http_status: status };
  return failure(message, { code, status });
}

function errorsOf(result: Fields): string | null {
  const { errors } = result;
  const words = Array.isArray(errors) ? errors.filter((error) => typeof error === "string") : [];
  return words.length > 0 ? words.join("; ") : null;
}
