import type { ContentBlock } from "../protocol/content.ts";
import type { EventBody, LinefeedEvent } from "../protocol/event.ts";

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

/** Strings beyond this, in UTF-16 code units, are encoded piece by piece: what is written once need not be there as a whole. */
const PIECE_UNITS = 64 * 1024;

/** Whether an event holds so much text that its line had better never be there as a whole. */
export function isLong(body: EventBody): boolean {
  switch (body.type) {
    case "message":
      return body.content.some((block) => lengthOf(block) > PIECE_UNITS);
    case "result":
      return (body.text?.length ?? 0) > PIECE_UNITS;
    default:
      return false;
  }
}

function lengthOf(block: ContentBlock): number {
  if (block.type === "text") return block.text.length;
  return block.type === "thinking" ? block.thinking.length : 0;
}

/** The line of an event in pieces, made each time it is gone through. */
export function encodeInPieces(event: LinefeedEvent): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      let gathered = "";
      for (const piece of jsonPieces(event)) {
        gathered += piece;
        if (gathered.length < PIECE_UNITS) continue;
        yield gathered;
        gathered = "";
      }
      yield `${gathered}\n`;
    },
  };
}

/** Plain data as JSON, as JSON.stringify writes it. */
function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > PIECE_UNITS) yield* stringPieces(value);
  else if (Array.isArray(value)) yield* listPieces("[", value.map(jsonPieces), "]");
  else if (typeof value === "object" && value !== null) yield* objectPieces(value);
  else yield encodeJson(value);
}

function* stringPieces(text: string): Generator<string> {
  yield '"';
  for (let begin = 0; begin < text.length;) {
    const end = wholeCharacters(text, begin + PIECE_UNITS);
    yield encodeJson(text.slice(begin, end)).slice(1, -1);
    begin = end;
  }
  yield '"';
}

function* objectPieces(value: object): Generator<string> {
  const there = Object.entries(value).filter(([, field]) => field !== undefined);
  yield* listPieces(
    "{",
    there.map(([key, field]) => fieldPieces(key, field)),
    "}",
  );
}

function* fieldPieces(key: string, field: unknown): Generator<string> {
  yield `${encodeJson(key)}:`;
  yield* jsonPieces(field);
}

function* listPieces(open: string, parts: readonly Generator<string>[], close: string): Generator<string> {
  yield open;
  for (const [index, part] of parts.entries()) {
    if (index > 0) yield ",";
    yield* part;
  }
  yield close;
}

/** `end`, or one further where it would cut a surrogate pair. */
export function wholeCharacters(text: string, end: number): number {
  const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(end - 1, end + 1));
  return isPair ? end + 1 : end;
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
