// What an HTTP answer or a failed connection tells, for every provider that is reached over HTTP.

/** Looks up a header by its name in lower case. */
export interface HeaderReader {
  get(name: string): string | null;
}

const EXCERPT_LENGTH = 300;
const LONGEST_BODY_LOOKED_AT = 16_384;

/** `text` shortened for a message to a person: one line, no markup, no control characters. */
export function excerpt(text: string, length = EXCERPT_LENGTH): string {
  const plain = text
    .slice(0, LONGEST_BODY_LOOKED_AT)
    .replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, " ")
    .replace(/<!--[\s\S]*?-->|<[a-z/!][^<>]*>/gi, " ")
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim();
  return plain.length <= length ? plain.toWellFormed() : `${plain.slice(0, length).toWellFormed()}…`;
}

/** Returns a function that replaces every occurrence of the secrets in a text by `[redacted]`. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const spellings = secrets.flatMap((secret) => (secret ? [secret, encodeURIComponent(secret)] : []));
  const unique = [...new Set(spellings)].filter((secret) => secret.length >= 4);
  return (text) => unique.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

/**
 * The wait that an answer asks for, in ms: `retry-after-ms`, else `retry-after` as seconds or as a
 * date. Undefined if it names none or one that makes no sense.
 */
export function retryAfterMs(headers: HeaderReader, now: number = Date.now()): number | undefined {
  const ms = numberOf(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const header = headers.get("retry-after");
  const seconds = numberOf(header);
  if (seconds !== undefined) return seconds * 1000;
  // Date.parse also takes bare numbers for dates; those of HTTP have words.
  const date = Date.parse(header !== null && /[a-z]{3}/i.test(header) ? header : "");
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(header: string | null): number | undefined {
  return header !== null && /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) : undefined;
}

/** Whether an answer of this kind may be better next time; `x-should-retry` has the last word. */
export function isRetryableStatus(status: number, headers: HeaderReader): boolean {
  const said = headers.get("x-should-retry");
  if (said === "true" || said === "false") return said === "true";
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Why a connection failed. */
export interface ConnectionFault {
  kind: "unreachable" | "certificate" | "timeout";
  /** The system's word for it (`ECONNREFUSED`), else the message. */
  reason: string;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ALTNAME/;
const TIMEOUT = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Finds the reason in what a request or the reading of its answer threw: it is the innermost `cause`. */
export function connectionFault(thrown: unknown): ConnectionFault {
  let reason = "";
  let error: unknown = thrown;
  for (let depth = 0; depth < 8 && error instanceof Error; depth += 1) {
    const code = "code" in error && typeof error.code === "string" ? error.code : "";
    if (code !== "" || error.message !== "") reason = code || error.message;
    // Node tries every address of a host; the first failure stands for all.
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  if (CERTIFICATE.test(reason)) return { kind: "certificate", reason };
  return { kind: TIMEOUT.has(reason) ? "timeout" : "unreachable", reason };
}
