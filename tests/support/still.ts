// A picture of what a terminal shows, for the README: made from what the renderer prints, never drawn by hand.
import { clustersOf, widthOf } from "../../src/render/width.ts";

const CELL = 8.4;
const LINE = 20;
const MARGIN = 16;
const BACKGROUND = "#0d1117";
const TEXT = "#e6edf3";
const COLOURS = new Map([
  [31, "#ff7b72"],
  [32, "#3fb950"],
  [33, "#d29922"],
  [36, "#39c5cf"],
]);
/** Few fonts have it, and some draw it as a picture of a button: so it is drawn here. */
const RECORD = "⏺";

interface Look {
  bold: boolean;
  dim: boolean;
  colour: string;
}

/**
 * @param output what the renderer has printed, with colours and without a spinner.
 * @param title what the picture shows, for those who do not see it.
 * @param columns the width of the terminal.
 */
export function still(output: string, title: string, columns = 80): string {
  const rows = output.trimEnd().split("\n");
  const width = Math.ceil(columns * CELL + 2 * MARGIN);
  const height = rows.length * LINE + 2 * MARGIN;
  let look: Look = { bold: false, dim: false, colour: TEXT };
  const lines: string[] = [];
  for (const [index, row] of rows.entries()) {
    let column = 0;
    for (const piece of row.split(/(?<=\u001b\[\d+m)|(?=\u001b\[\d+m)/)) {
      const code = /^\u001b\[(\d+)m$/.exec(piece)?.[1];
      if (code !== undefined) look = lookAfter(look, Number(code));
      else {
        lines.push(...textAt(piece, column, MARGIN + index * LINE + 14, look));
        column += widthOf(piece);
      }
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">`,
    ...lines,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function lookAfter(look: Look, code: number): Look {
  if (code === 1) return { ...look, bold: true };
  if (code === 2) return { ...look, dim: true };
  if (code === 22) return { ...look, bold: false, dim: false };
  if (code === 39) return { ...look, colour: TEXT };
  const colour = COLOURS.get(code);
  if (colour === undefined)
    throw new Error(`the renderer prints a code that the still does not know: ${code}`);
  return { ...look, colour };
}

/** Each word has its place by itself: no font is as wide as the grid, and what is wider than expected must not push the rest. */
function textAt(text: string, column: number, y: number, { bold, dim, colour }: Look): string[] {
  const attributes = `fill="${colour}"${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}`;
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const x = MARGIN + (column + widthOf(text.slice(0, index))) * CELL;
    if (word === RECORD)
      return `<circle cx="${(x + CELL / 2).toFixed(1)}" cy="${y - 5}" r="4.5" ${attributes}/>`;
    const length = clustersOf(word).length > 1 ? ` textLength="${(widthOf(word) * CELL).toFixed(1)}"` : "";
    return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}${length}>${escaped(word)}</text>`;
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
