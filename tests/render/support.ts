import { Pretty, type PrettyOptions } from "../../src/render/pretty.ts";
import type { LinefeedEvent } from "../../src/protocol/event.ts";
import { readFileSync } from "node:fs";
import { eastAsianWidth } from "get-east-asian-width";

/** The events of a stream in examples/streams. */
export function golden(name: string): LinefeedEvent[] {
  const lines = readFileSync(`examples/streams/${name}.jsonl`, "utf8").split("\n").slice(0, -1);
  // Checked against the schemas in golden.test.ts.
  return lines.map((line) => JSON.parse(line) as LinefeedEvent);
}

/** A renderer with a clock that is set by hand. */
export function renderer(options: Partial<PrettyOptions> & { width?: number } = {}) {
  const clock = { now: 0 };
  const pretty = new Pretty({
    columns: () => options.width ?? 80,
    colour: false,
    spinner: false,
    now: () => clock.now,
    ...options,
  });
  return { pretty, clock };
}

/** What a whole stream is printed as. */
export function render(events: readonly LinefeedEvent[], options?: Parameters<typeof renderer>[0]): string {
  const { pretty } = renderer(options);
  return events.map((event) => pretty.event(event)).join("");
}

/** The columns that a simple terminal gives to a text without control characters: character by character. */
export function cells(text: string): number {
  const widths = Array.from(text, (character) =>
    /[\p{Mn}\p{Me}\p{Cf}]/u.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0),
  );
  return widths.reduce<number>((sum, width) => sum + width, 0);
}

/** What stands on the screen in the end: the text with the effects of the codes that we print ourselves. */
export function screen(output: string): string {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  const at = () => (rows[row] ??= []);
  for (const [token] of output.matchAll(/\u001b\[\d*[A-Za-z]|[^]/gu)) {
    const code = /^\u001b\[(\d*)([A-Za-z])$/.exec(token);
    const number = Number(code?.[1] === "" ? Number.NaN : code?.[1]);
    if (token === "\n") [row, column] = [row + 1, 0];
    else if (token === "\r") column = 0;
    else if (!code) {
      at()[column++] = token;
      if (cells(token) === 2) at()[column++] = "";
    } else if (code[2] === "A") row -= number || 1;
    else if (code[2] === "G") column = number - 1;
    else if (code[2] === "K" && number === 2) rows[row] = [];
    else if (code[2] === "K") at().length = Math.min(at().length, column);
    else if (code[2] !== "m") throw new Error(`an unknown code: ${JSON.stringify(token)}`);
  }
  return Array.from(rows, (cells) => Array.from(cells ?? [], (cell) => cell ?? " ").join("")).join("\n");
}
