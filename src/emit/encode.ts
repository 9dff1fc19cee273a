import type { LinefeedEvent } from "../protocol/event.ts";

// DEL, the C1 controls (NEL among them) and the two Unicode line ends: legal in JSON, but some line
// splitter takes each for a line end. U+FEFF: its bytes are those of a byte order mark, which some programs
// take out wherever they stand. JSON.stringify has escaped C0 already.
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff]/;
const ALL_ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff]/g;
const ESCAPES = /\\(?:u([0-9a-f]{4})|[^u])/g;

/**
 * An event as its line, LF included. The line is well-formed: JSON.stringify writes a lone surrogate
 * as an escape that strict parsers refuse, here it becomes U+FFFD.
 */
export function encode(event: LinefeedEvent): string {
  // Added before anything looks at the text: a long one would be copied once more.
  return escaped(`${JSON.stringify(event)}\n`);
}

/** A value as JSON on one line that no line splitter cuts and no decoder changes. */
export function encodeJson(value: unknown): string {
  return escaped(JSON.stringify(value));
}

function escaped(json: string): string {
  let safe = json;
  if (safe.includes("\\ud")) safe = safe.replace(ESCAPES, withoutSurrogates);
  if (ESCAPED.test(safe)) safe = safe.replace(ALL_ESCAPED, asEscape);
  return safe;
}

function withoutSurrogates(escape: string, hex: string | undefined): string {
  return hex !== undefined && /^d[89a-f]/.test(hex) ? "\uFFFD" : escape;
}

function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
