import type { ErrorCode } from "../../protocol/errors.ts";

// No zod in this file: recording a run must not load it.

/** What a provider's call can fail with; the other codes are not the provider's to give. */
export const FAULT_CODES = [
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
  "internal",
] as const satisfies readonly ErrorCode[];

export type FaultCode = (typeof FAULT_CODES)[number];
