// What a terminal would obey, or what would make a text look like another: controls, surrogates without a
// partner, line ends that are none to us, and the marks that turn the direction of writing.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL_HIDDEN = new RegExp(HIDDEN, "g");
const DELETE = 0x7f;
const SYMBOLS = 0x2400;
const DELETE_SYMBOL = "\u2421";

/**
 * The text as it may go to a terminal: control characters as symbols (`␛`), others as escapes (`\u009b`).
 * Line feeds and tabs stay, CR LF becomes LF.
 */
export function visible(text: string): string {
  const plain = text.isWellFormed() ? text : text.toWellFormed();
  if (!HIDDEN.test(plain)) return plain;
  return plain.replaceAll("\r\n", "\n").replace(ALL_HIDDEN, symbolOf);
}

function symbolOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(SYMBOLS + code);
  if (code === DELETE) return DELETE_SYMBOL;
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
