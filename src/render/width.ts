import { eastAsianWidth } from "get-east-asian-width";

/** What a reader sees as one character, and how many columns it takes at most. */
export interface Cluster {
  text: string;
  width: number;
  /** Whether all terminals agree on the width. */
  certain: boolean;
}

/** Characters that stand alone unless a mark follows: Latin, Greek, Cyrillic, lines and boxes, CJK, Hangul. */
const ALONE =
  "\\t\\n\\x20-\\x7e\\u00a1-\\u00a8\\u00aa-\\u00ac\\u00af-\\u02ff\\u0370-\\u0482\\u048a-\\u052f\\u1e00-\\u1fff\\u2010-\\u2027" +
  "\\u20a0-\\u20bf\\u2500-\\u259f\\u3001-\\u3029\\u3041-\\u3096\\u30a1-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff9d";
/** Runs of them, which need no segmenter (it takes many times as long), and what is between. */
const RUNS = new RegExp(`([${ALONE}]+)(?![^${ALONE}])|[${ALONE}]?[^${ALONE}]+`, "gu");
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Format characters that are seen: the soft hyphen, and marks that stand before a number. */
const SEEN = /^[\u00ad\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u;
const EMOJI_STYLE = 0xfe0f;
const JOINER = 0x200d;
/** Above this many columns a cluster is taken apart: no chain of joined emoji may be wider than a line. */
const WIDEST = 8;

const segmenter = new Intl.Segmenter();

/** The clusters of a text without control characters other than LF and tab. */
export function clustersOf(text: string): Cluster[] {
  const clusters: Cluster[] = [];
  for (const [run, alone] of text.matchAll(RUNS)) {
    if (alone === undefined) addSegments(run, clusters);
    else for (const character of alone) clusters.push(clusterOf(character));
  }
  return clusters;
}

function addSegments(run: string, clusters: Cluster[]): void {
  for (const { segment } of segmenter.segment(run)) {
    const cluster = clusterOf(segment);
    if (cluster.width <= WIDEST) clusters.push(cluster);
    else for (const character of segment) clusters.push(clusterOf(character));
  }
}

/**
 * Terminals differ on joined emoji: some draw them as one, some as their parts. The wider reading counts, so
 * that a line is never too long.
 */
function clusterOf(text: string): Cluster {
  let width = 0;
  let certain = true;
  let count = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    width += widthOfCode(character, code);
    if (code === EMOJI_STYLE) width = Math.max(width, 2);
    if (code === EMOJI_STYLE || code === JOINER || (count > 0 && code > 0xffff)) certain = false;
    count += 1;
  }
  return { text, width, certain };
}

function widthOfCode(character: string, code: number): number {
  if (code < 0x7f) return 1;
  if (NO_WIDTH.test(character) && !SEEN.test(character)) return 0;
  return eastAsianWidth(code);
}

/** How many columns a text takes at most. */
export function widthOf(text: string): number {
  return clustersOf(text).reduce((sum, { width }) => sum + width, 0);
}

/** The text on one row of so many columns, with `…` for what does not fit; tabs become spaces. */
export function fit(text: string, columns: number): string {
  if (columns < 1) return "";
  // Most characters take a column or none: what is behind this cannot be on the row.
  const near = text.slice(0, columns * 16).replaceAll("\n", " ");
  const clusters = clustersOf(near.replaceAll("\t", "    "));
  let width = 0;
  let kept = "";
  let beforeMark = "";
  for (const cluster of clusters) {
    width += cluster.width;
    if (width > columns) return `${beforeMark.trimEnd()}…`;
    kept += cluster.text;
    if (width <= columns - 1) beforeMark = kept;
  }
  return near.length < text.length ? `${beforeMark.trimEnd()}…` : kept;
}
