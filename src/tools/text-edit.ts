/** A change of a text: `old` becomes `new`, once or wherever it stands. */
export interface TextEdit {
  old: string;
  new: string;
  all: boolean;
}

export type EditOutcome =
  | { kind: "edited"; text: string; lines: number[] }
  /** `hint` says what does stand there, if that is near. */
  | { kind: "none"; hint: string | null }
  | { kind: "several"; lines: number[] };

/** How much of a text is searched for something near, in UTF-16 code units: the search is slower. */
const HINT_UNITS = 1024 * 1024;

/**
 * Applies an edit; matches are exact and do not overlap. Only line ends are forgiven: where every line of the
 * text ends in CRLF, a plain LF in the edit means CRLF, since a model cannot see the difference. Pure.
 */
export function applyEdit(text: string, edit: TextEdit): EditOutcome {
  const wanted = hasOnlyCrlf(text) ? { ...edit, old: toCrlf(edit.old), new: toCrlf(edit.new) } : edit;
  const parts = text.split(wanted.old);
  if (parts.length === 1) return { kind: "none", hint: hintFor(text, edit.old) };
  const lines = linesOf(parts, wanted.old);
  if (lines.length > 1 && !edit.all) return { kind: "several", lines };
  return { kind: "edited", text: parts.join(wanted.new), lines };
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replaceAll(/(?<!\r)\n/g, "\r\n");
}

/** The number of the line in which each match begins. */
function linesOf(parts: readonly string[], old: string): number[] {
  const within = breaksIn(old);
  let line = 1;
  return parts.slice(0, -1).map((part, index) => {
    line += breaksIn(part) + (index > 0 ? within : 0);
    return line;
  });
}

function breaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function hintFor(text: string, old: string): string | null {
  if (text.length > HINT_UNITS || old.length > HINT_UNITS) return null;
  const numbered = old.replaceAll(/^ *\d+\t/gm, "");
  if (numbered !== old && numbered !== "" && text.includes(numbered)) {
    return "It does stand there without the line numbers, which Read puts in front and the file does not hold.";
  }
  const loose = (part: string) => part.replaceAll("\r\n", "\n");
  if (loose(text).includes(loose(old))) {
    return "It does stand there with other line ends: some lines of the file end in CRLF, others in LF. Edit single lines.";
  }
  const line = lineOfLooseMatch(text, old);
  return line === null
    ? null
    : `Line ${line} differs only in white space: copy it exactly as Read shows it, tabs and indentation too.`;
}

/** Where the words of `old` stand in the same order, whatever white space is between them. */
function lineOfLooseMatch(text: string, old: string): number | null {
  const bare = old.replaceAll(/\s+/g, "");
  if (bare === "") return null;
  const at = text.replaceAll(/\s+/g, "").indexOf(bare);
  if (at === -1) return null;
  let [seen, line] = [0, 1];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charAt(index);
    if (unit === "\n") line += 1;
    if (/\s/.test(unit)) continue;
    if (seen === at) return line;
    seen += 1;
  }
  return null;
}
