import { AgentError, isErrorCode, type ErrorCode } from "../protocol/errors.ts";

/** `ok`: it was taken up. */
export type ControlReply = { ok: true } | { ok: false; error: { code: ErrorCode; message: string } };

/** What a request is refused with. */
export function refusal(error: unknown): ControlReply {
  const code = error instanceof AgentError ? error.code : "internal";
  return { ok: false, error: { code, message: error instanceof Error ? error.message : String(error) } };
}

/** Reads what a writer has answered. */
export function asReply(text: string): ControlReply {
  try {
    const { ok, error }: { ok?: unknown; error?: { code?: unknown; message?: unknown } } = JSON.parse(text);
    if (ok === true) return { ok };
    if (typeof error?.message === "string") {
      const code = typeof error.code === "string" && isErrorCode(error.code) ? error.code : "invalid_request";
      return { ok: false, error: { code, message: error.message } };
    }
  } catch {
    // It is said below.
  }
  return {
    ok: false,
    error: { code: "internal", message: "the session answered something that is no answer" },
  };
}
