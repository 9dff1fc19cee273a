import { ModelError, type ModelErrorDetails } from "./client.ts";

/** The same error with another message, and with what is known besides. */
export function reworded(error: ModelError, message: string, known: ModelErrorDetails = {}): ModelError {
  const { code, httpStatus, retryable, provider, requestId, retryAfterMs, usage, cause } = error;
  return new ModelError(code, message, {
    httpStatus,
    retryable,
    provider,
    requestId,
    retryAfterMs,
    usage,
    cause,
    ...known,
  });
}
