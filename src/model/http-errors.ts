import type { ErrorCode } from "../protocol/errors.ts";
import { ModelError } from "./client.ts";
import type { ErrorContext } from "./endpoint.ts";
import { connectionFault, excerpt, type HeaderReader } from "./http.ts";

/** An answer that is no success. */
export interface FailedAnswer {
  status: number;
  headers: HeaderReader;
  /** The parsed body; undefined if it is no JSON. */
  json: unknown;
  /** The body as text, where it is no JSON. */
  text: string;
}

/** What an HTTP status means, whoever sent it; 5xx that are not named are `server_error`. */
export const STATUSES: ReadonlyMap<number, ErrorCode> = new Map([
  [401, "authentication"],
  [402, "billing"],
  [403, "permission"],
  [404, "not_found"],
  [408, "server_error"],
  [409, "server_error"],
  [413, "context_overflow"],
  [422, "invalid_request"],
  [429, "rate_limit"],
  [503, "overloaded"],
  [529, "overloaded"],
]);

/** The error for a connection that could not be made, or that broke before the answer began. */
export function connectError(thrown: unknown, context: ErrorContext): ModelError {
  const fault = connectionFault(thrown);
  const reason = excerpt(context.redact(fault.reason));
  switch (fault.kind) {
    case "certificate":
      return new ModelError(
        "network",
        `the certificate of ${context.host} was not accepted (${reason}); behind a company's proxy set NODE_EXTRA_CA_CERTS to its root certificate`,
        { cause: thrown },
      );
    case "timeout":
      return new ModelError("idle_timeout", `${context.host} did not answer in time (${reason})`, {
        retryable: true,
        cause: thrown,
      });
    case "unreachable":
      return new ModelError(
        "network",
        `could not reach ${context.host} (${reason}); check the network, --base-url or ${context.names.baseUrl}, and HTTPS_PROXY if there is a proxy`,
        { retryable: true, cause: thrown },
      );
    default:
      return fault.kind satisfies never;
  }
}

/** The error for a connection that broke after the answer had begun. */
export function brokenStream(thrown: unknown, context: ErrorContext): ModelError {
  const fault = connectionFault(thrown);
  const reason = excerpt(context.redact(fault.reason));
  const code = fault.kind === "timeout" ? "idle_timeout" : "stream_interrupted";
  const message = `the connection to ${context.host} broke off in the middle of the answer (${reason})`;
  return new ModelError(code, message, { retryable: true, cause: thrown });
}

/** The error for a frame whose data is no JSON; a gateway that fails may have put its own error into it. */
export function unreadableFrame(data: string, said: string, context: ErrorContext): ModelError {
  const holds = said === "" ? "" : ` and holds the error "${excerpt(context.redact(said))}"`;
  const shown = excerpt(context.redact(data));
  return new ModelError("malformed_response", `the provider sent an event that is no JSON${holds}: ${shown}`);
}

/** What an answer without an error object says: its body, else where it points to. */
export function wordsOf({ status, headers, json, text }: FailedAnswer, context: ErrorContext): string {
  const words = excerpt(context.redact(text || describe(json)));
  if (words !== "") return words;
  // A redirect is not followed: whoever answers there may not be whom the key is for.
  const target = status >= 300 && status < 400 ? headers.get("location") : null;
  return target === null ? "" : `it redirects to ${target}; check --base-url`;
}

export function describe(json: unknown): string {
  return json === undefined ? "" : JSON.stringify(json);
}

/** What the provider said, where it came from, and what to do about it. */
export function sentence(said: string, where: string, advice: string): string {
  const words = excerpt(said, 1000) || "no reason given";
  return `${words} (${where})${advice === "" ? "" : `; ${advice}`}`;
}

const LATER = () => "try again later";

const HINTS: Partial<Record<ErrorCode, (context: ErrorContext) => string>> = {
  authentication: ({ names }) => `check ${names.key}`,
  permission: ({ model }) => `check that the key may use ${model}`,
  billing: () => "check the account's credit and billing",
  not_found: ({ model, host }) => `check --model (${model}) and --base-url (${host})`,
  context_overflow: () => "the conversation is too long for the model: start a new session",
  rate_limit: LATER,
  overloaded: LATER,
  server_error: LATER,
};

/** What to do about an error of this kind; empty where there is nothing to say. */
export function hint(code: ErrorCode, context: ErrorContext): string {
  return HINTS[code]?.(context) ?? "";
}
