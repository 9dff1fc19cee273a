import type { ErrorCode, ErrorInfo } from "../../protocol/errors.ts";

export interface FailureFacts {
  code?: ErrorCode | undefined;
  /** The provider's HTTP status. */
  status?: number | null | undefined;
  /** Whether the agent itself says that it may work later. */
  retryable?: boolean | undefined;
  provider?: string | null | undefined;
  requestId?: string | null | undefined;
}

/** Statuses that may be gone a moment later. */
const PASSING = new Set([408, 409, 429]);

/**
 * The failure of another agent as an error of ours. The code is what the agent says, else what the HTTP status means, else
 * `agent_error`: nothing is guessed from words.
 */
export function failure(message: string, facts: FailureFacts = {}): ErrorInfo {
  const status = facts.status ?? null;
  const passing = status !== null && (status >= 500 || PASSING.has(status));
  return {
    code: facts.code ?? codeOfStatus(status),
    message: message === "" ? "the agent failed and did not say why" : message,
    http_status: status,
    retryable: facts.retryable ?? passing,
    provider: facts.provider ?? null,
    request_id: facts.requestId ?? null,
  };
}

/** The stream is over, and the run is not. */
export function brokenOff(agent: string): ErrorInfo {
  return failure(`the stream of ${agent} ends without its last word: it died, was ended, or was cut off`, {
    code: "stream_interrupted",
  });
}

function codeOfStatus(status: number | null): ErrorCode {
  switch (status) {
    case null:
      return "agent_error";
    case 401:
      return "authentication";
    case 402:
      return "billing";
    case 403:
      return "permission";
    case 404:
      return "not_found";
    case 413:
      return "context_overflow";
    case 429:
      return "rate_limit";
    case 503:
    case 529:
      return "overloaded";
    default:
      if (status >= 500) return "server_error";
      return status >= 400 ? "invalid_request" : "agent_error";
  }
}

/**
 * The HTTP status that a message names, for agents that tell failures as text only: `unexpected status 401 Unauthorized`,
 * `API Error: 529 {…}`, `(Status: 429)`.
 */
export function statusIn(message: string): number | null {
  const [, status] = /\b(?:status(?: code)?|error|http)\b[:\s(]{1,3}([45]\d\d)\b/i.exec(message) ?? [];
  return status === undefined ? null : Number(status);
}
