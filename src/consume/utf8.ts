// Text and bytes, with Node's Buffer where there is one (it decodes short lines much faster) and without it elsewhere.

const hasBuffer = typeof Buffer === "function";
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const encoder = new TextEncoder();

/** The same bytes, as a Buffer where there are such. */
export function fastBytes(bytes: Uint8Array): Uint8Array {
  if (!hasBuffer || Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The text of a piece if it is ASCII all through, found much faster than any other decoding; undefined where it is not, or
 * where that would not be fast.
 */
export function decodeAscii(bytes: Uint8Array, begin: number, end: number): string | undefined {
  if (!hasBuffer || !Buffer.isBuffer(bytes)) return undefined;
  const text = bytes.toString("latin1", begin, end);
  // Of the 256 characters of Latin-1 only those of ASCII need one byte.
  return Buffer.byteLength(text) === text.length ? text : undefined;
}

/** Decodes a piece; what is no UTF-8 becomes U+FFFD. A byte order mark is text like any other. */
export function decode(bytes: Uint8Array, begin: number, end: number): string {
  if (hasUtf8Slice(bytes)) return bytes.utf8Slice(begin, end);
  return decoder.decode(bytes.subarray(begin, end));
}

/** Node's buffers have it beside `toString`, without whose looking up of names it is a third faster for a short line. */
function hasUtf8Slice(
  bytes: Uint8Array,
): bytes is Uint8Array & { utf8Slice(begin: number, end: number): string } {
  return "utf8Slice" in bytes && typeof bytes.utf8Slice === "function";
}

/** Whether a piece is UTF-8 all through. Slow: ask only where the decoded text holds U+FFFD. */
export function isUtf8(bytes: Uint8Array, begin: number, end: number): boolean {
  try {
    strictDecoder.decode(bytes.subarray(begin, end));
    return true;
  } catch {
    return false;
  }
}

/** The text of the first bytes of something longer, without the character that may be cut in two. */
export function decodeHead(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}

/** No UTF-8 holds this byte: it stands for half a surrogate pair, which has no UTF-8 either. */
const NO_UTF8 = 0xff;
const LONE_SURROGATES = /(\p{Surrogate})/u;

/** Encodes text; a lone surrogate becomes a byte that is no UTF-8, so that it is found as damage and not passed over. */
export function encode(text: string): Uint8Array {
  if (text.isWellFormed()) return hasBuffer ? Buffer.from(text, "utf8") : encoder.encode(text);
  const pieces = text.split(LONE_SURROGATES).map((piece, index) => {
    return index % 2 === 1 ? Uint8Array.of(NO_UTF8) : encoder.encode(piece);
  });
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return fastBytes(bytes);
}

/** Of a text that is shown to a person, this many UTF-16 code units at most. */
const SHOWN_UNITS = 1000;

/** The beginning of a text, as a copy: a mere slice would keep the whole alive. */
export function boundedText(text: string): string {
  if (text.length <= SHOWN_UNITS) return text;
  const bytes = encode(text.slice(0, SHOWN_UNITS).replace(/[\ud800-\udbff]$/, ""));
  return decode(bytes, 0, bytes.length);
}
