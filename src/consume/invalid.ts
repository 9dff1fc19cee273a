import { AgentError } from "../protocol/errors.ts";
import { boundedText } from "./utf8.ts";

/** Why a line is no event, each with what it means; the documentation is made from this table. */
export const INVALID_REASONS = {
  not_json: "The line is not JSON: a banner, a log line, half a line.",
  truncated: "The last line has no line end and is not whole: the writer was cut off in the middle of it.",
  not_utf8: "The line holds bytes that are not UTF-8; in `text` they are U+FFFD.",
  too_long: "The line is longer than `maxLineBytes`; it was skipped, `bytes` is its real length.",
  not_an_event: "The line is JSON, but no object with a `type`.",
  wrong_fields: "A known event lacks a field, or has one of another type; `raw` is the whole.",
  protocol:
    "The `init` line names a protocol that this version does not know; `raw` is the whole. What follows is read as well as it can be.",
} as const satisfies Record<string, string>;
export type InvalidReason = keyof typeof INVALID_REASONS;

/** A line that is no event, in the place where it stood. */
export interface InvalidLine {
  type: "invalid";
  reason: InvalidReason;
  /** What is wrong, for a person, with source and line number in front. */
  message: string;
  /** The source's name, if it has one: the path of a file. */
  source: string | null;
  /** The number of the line, from 1; blank lines count. */
  line: number;
  /** The real length of the line in bytes, without its LF. */
  bytes: number;
  /** The line's beginning, at most about 1,000 characters. */
  text: string;
  /** What was parsed, where it is an object. */
  raw?: Record<string, unknown>;
}

/** Where a line stands, and what is known of it. */
export interface Place {
  source: string | null;
  line: number;
  bytes: number;
  text: string;
}

export function invalidLine(
  reason: InvalidReason,
  what: string,
  place: Place,
  raw?: Record<string, unknown>,
): InvalidLine {
  const { source, line, bytes } = place;
  const message = `${source ?? "line "}${source === null ? "" : ":"}${line}: ${what}`;
  const invalid: InvalidLine = {
    type: "invalid",
    reason,
    message,
    source,
    line,
    bytes,
    text: boundedText(place.text),
  };
  return raw === undefined ? invalid : { ...invalid, raw };
}

/**
 * A line is no event, and the reader was told to throw. Its code is `malformed_response`; the facts are those of
 * {@link InvalidLine}.
 */
export class InvalidLineError extends AgentError {
  override readonly name = "InvalidLineError";
  readonly invalid: InvalidLine;

  constructor(invalid: InvalidLine) {
    super("malformed_response", invalid.message);
    this.invalid = invalid;
  }
}

/** The source could not be opened or read to its end; the code is `io`, `cause` is what the source threw. */
export class SourceError extends AgentError {
  override readonly name = "SourceError";
  /** The source's name, if it has one. */
  readonly source: string | null;

  constructor(source: string | null, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super("io", `${source ?? "the source"} cannot be read: ${why}`, { cause });
    this.source = source;
  }
}
