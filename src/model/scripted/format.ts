import type { Script } from "./script.ts";

// Lists of numbers (sizes and waits of pieces) stand on one line each; a raw line end is never inside a string.
const NUMBERS = /\[\n\s*(\d[\d.,\s]*)\n\s*\]/g;

/** A script as the text of its file, made for people and for `diff`. */
export function formatScript(script: Script): string {
  const json = JSON.stringify(script, null, 2);
  return `${json.replace(NUMBERS, (_, numbers: string) => `[${numbers.replaceAll(/,\s+/g, ", ")}]`)}\n`;
}
