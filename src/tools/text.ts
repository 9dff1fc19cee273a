/** The longest summary of a call, in UTF-16 code units. */
const SUMMARY_UNITS = 120;
// C0, DEL and C1, line and paragraph separator, and what turns the direction of text around.
const UNFIT = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** The first `units` code units at most, never ending within a surrogate pair. */
export function headOf(text: string, units: number): string {
  if (units <= 0) return "";
  if (text.length <= units) return text;
  return text.slice(
    0,
    isHigh(text.charCodeAt(units - 1)) && isLow(text.charCodeAt(units)) ? units - 1 : units,
  );
}

/** The last `units` code units at most, never beginning within a surrogate pair. */
export function tailOf(text: string, units: number): string {
  if (units <= 0) return "";
  if (text.length <= units) return text;
  const begin = text.length - units;
  return text.slice(isLow(text.charCodeAt(begin)) && isHigh(text.charCodeAt(begin - 1)) ? begin + 1 : begin);
}

/** The first line that says something, fit to be shown to a person in one short line. */
export function summaryLine(text: string): string {
  const lines = text.split(/[\n\r]+/).filter((line) => line.trim() !== "");
  const line = (lines[0] ?? "").replace(UNFIT, " ").trim().toWellFormed();
  if (line.length > SUMMARY_UNITS) return `${headOf(line, SUMMARY_UNITS - 1)}…`;
  return lines.length > 1 && line.length <= SUMMARY_UNITS - 2 ? `${line} …` : line;
}

/** The system's error as a person reads it, without Node's prefix. */
export function systemMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system's word for an error, such as `ENOENT`; empty if it has none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
