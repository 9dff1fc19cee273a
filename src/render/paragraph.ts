import type { Paint, Style } from "./style.ts";
import { visible } from "./visible.ts";
import { clustersOf, type Cluster } from "./width.ts";

export interface ParagraphOptions {
  /** Stands before the first row; two columns wide. */
  mark: string;
  markStyle: Style;
  style: Style;
  /** How many columns a row may take, the mark included. */
  columns: number;
  paint: Paint;
}

const INDENT = "  ";
const TAB = 4;
const LIST_MARK = /^(?:[-*+•]|\d{1,3}[.)])$/;
/** Text without a break between wide characters may be cut anywhere but before and behind these. */
const CLOSING = new Set("、。，．・：；？！）」』】〕〉》’”…,.;:?!)]}%");
const OPENING = new Set("（「『【〔〈《‘“([{");

/**
 * Text in pieces of any size, wrapped into rows as it comes. What is printed depends on the text alone, not on
 * where it was cut: a word is printed when it is known to be whole. White space at the end of a row is left out,
 * empty lines at the beginning and at the end too.
 */
export class Paragraph {
  readonly #options: ParagraphOptions;
  readonly #columns: number;
  /** The end of the text so far that the next piece may still change. */
  #carry = "";
  #word: Cluster[] = [];
  #wordWidth = 0;
  #spaces = 0;
  #newlines = 0;
  #column = 0;
  #rowOpen = false;
  #begun = false;
  #certain = true;
  /** How far the rows that continue a line are set in: as far as the line's own text. */
  #hang = 0;

  constructor(options: ParagraphOptions) {
    this.#options = options;
    this.#columns = Math.max(2, options.columns - INDENT.length);
  }

  /** Whether anything is printed yet. */
  get begun(): boolean {
    return this.#begun;
  }

  /** The column that the cursor is in, from 0; undefined: terminals may not agree on it. */
  get cursor(): number | undefined {
    return this.#certain ? INDENT.length + this.#column : undefined;
  }

  /** The word that is not known to be whole, as it would stand behind what is printed; "" if it has no room there. */
  get pending(): string {
    if (!this.#rowOpen || this.#newlines > 0) return "";
    const clusters = [...this.#word, ...clustersOf(visible(this.#carry))];
    if (clusters.some(({ text }) => /^\s$/.test(text))) return "";
    const width = clusters.reduce((sum, cluster) => sum + cluster.width, this.#spaces);
    if (this.#column + width > this.#columns) return "";
    return " ".repeat(this.#spaces) + clusters.map(({ text }) => text).join("");
  }

  /** Takes the next piece; returns what is to be printed. */
  push(piece: string): string {
    const text = this.#carry + piece;
    // Half a character, and a CR whose LF may follow, are not looked at yet.
    const ready = /[\ud800-\udbff\r]$/.test(text) ? text.slice(0, -1) : text;
    const clusters = clustersOf(visible(ready));
    const last = clusters.pop();
    this.#carry = (last?.text ?? "") + text.slice(ready.length);
    return this.#put(clusters);
  }

  /** The text is over: prints what is left, and ends the row. */
  end(): string {
    const rest = this.#put(clustersOf(visible(this.#carry))) + this.#flush();
    this.#carry = "";
    this.#newlines = 0;
    this.#spaces = 0;
    return rest + this.#endRow();
  }

  #put(clusters: readonly Cluster[]): string {
    let out = "";
    for (const cluster of clusters) out += this.#add(cluster);
    return out;
  }

  #add(cluster: Cluster): string {
    const { text, width } = cluster;
    if (text === "\n") {
      const out = this.#flush();
      this.#spaces = 0;
      this.#newlines += 1;
      return out;
    }
    if (text === " " || text === "\t" || text === "\u3000") {
      const out = this.#flush();
      const column = (this.#newlines > 0 ? 0 : this.#column) + this.#spaces;
      this.#spaces += text === "\t" ? TAB - (column % TAB) : width;
      return out;
    }
    const full = this.#wordWidth + width > this.#columns;
    const out = full || breaksBefore(cluster, this.#word.at(-1)) ? this.#flush() : "";
    this.#word.push(cluster);
    this.#wordWidth += width;
    return out;
  }

  /** Prints the word, on the next row if there is no room on this. */
  #flush(): string {
    if (this.#word.length === 0) return "";
    let out = this.#begun ? this.#breakRows(this.#newlines) : "";
    this.#newlines = 0;
    const isFirst = this.#column === 0;
    if (!isFirst && this.#column + this.#spaces + this.#wordWidth > this.#columns) {
      out += this.#breakRows(1);
      this.#spaces = this.#hang;
    }
    const most = this.#column > 0 ? this.#columns : Math.floor(this.#columns / 2);
    const room = Math.max(0, Math.min(most, this.#columns - this.#column - this.#wordWidth));
    const word = this.#word.map(({ text }) => text).join("");
    const indent = Math.min(this.#spaces, room);
    if (isFirst) this.#hang = indent + (LIST_MARK.test(word) ? this.#wordWidth + 1 : 0);
    out += `${this.#openRow()}${" ".repeat(indent)}${word}`;
    this.#column += indent + this.#wordWidth;
    this.#certain &&= this.#word.every(({ certain }) => certain);
    this.#word = [];
    this.#wordWidth = 0;
    this.#spaces = 0;
    return out;
  }

  #openRow(): string {
    if (this.#rowOpen) return "";
    const { mark, markStyle, style, paint } = this.#options;
    const before = this.#begun ? INDENT : `${paint.text(markStyle, mark)} `;
    this.#rowOpen = true;
    this.#begun = true;
    return before + paint.on(style);
  }

  #breakRows(count: number): string {
    return count === 0 ? "" : this.#endRow() + "\n".repeat(count - 1);
  }

  #endRow(): string {
    const { style, paint } = this.#options;
    const out = this.#rowOpen ? `${paint.off(style)}\n` : "";
    this.#rowOpen = false;
    this.#column = 0;
    this.#certain = true;
    return out;
  }
}

function breaksBefore(next: Cluster, previous: Cluster | undefined): boolean {
  if (!previous || (next.width < 2 && previous.width < 2)) return false;
  return !CLOSING.has(next.text) && !OPENING.has(previous.text);
}
