// No zod in this file: every layer may throw these errors, also those on the start-up path.

/** What went wrong, as one word. Closed for writers; a reader must accept words from the future. */
export const ERROR_CODES = [
  "authentication",
  "permission",
  "billing",
  "not_found",
  "invalid_request",
  "context_overflow",
  "rate_limit",
  "overloaded",
  "server_error",
  "network",
  "stream_interrupted",
  "idle_timeout",
  "malformed_response",
  "refusal",
  "empty_answer",
  "max_tokens",
  "max_steps",
  "max_budget",
  "timeout",
  "denied",
  "cancelled",
  "reader_closed",
  "lost_worker",
  "usage",
  "config",
  "io",
  "agent_error",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export function isErrorCode(word: string): word is ErrorCode {
  return ERROR_CODES.some((code) => code === word);
}

/** The one shape of an error on the wire. */
export interface ErrorInfo {
  code: ErrorCode;
  message: string;
  http_status: number | null;
  retryable: boolean;
  provider: string | null;
  request_id: string | null;
}

export interface ErrorDetails {
  httpStatus?: number | null | undefined;
  retryable?: boolean | undefined;
  provider?: string | null | undefined;
  requestId?: string | null | undefined;
  cause?: unknown;
}

/** An error with a code from {@link ERROR_CODES}; the message says what to do next. */
export class AgentError extends Error {
  override readonly name: string = "AgentError";
  readonly code: ErrorCode;
  readonly httpStatus: number | null;
  readonly retryable: boolean;
  readonly provider: string | null;
  readonly requestId: string | null;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.httpStatus = details.httpStatus ?? null;
    this.retryable = details.retryable ?? false;
    this.provider = details.provider ?? null;
    this.requestId = details.requestId ?? null;
  }
}

/**
 * Turns anything that was thrown into the wire shape. What is not an {@link AgentError} is a bug of
 * ours and becomes `internal`.
 */
export function toErrorInfo(thrown: unknown): ErrorInfo {
  if (thrown instanceof AgentError) {
    return {
      code: thrown.code,
      message: thrown.message,
      http_status: thrown.httpStatus,
      retryable: thrown.retryable,
      provider: thrown.provider,
      request_id: thrown.requestId,
    };
  }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return {
    code: "internal",
    message: `internal error, please report it: ${message}`,
    http_status: null,
    retryable: false,
    provider: null,
    request_id: null,
  };
}
