import { Paragraph } from "./paragraph.ts";
import type { OpenRow } from "./spinner.ts";
import { Paint, type Style } from "./style.ts";
import { visible } from "./visible.ts";
import { fit, widthOf } from "./width.ts";

export interface PageOptions {
  /** How many columns a row may have now. */
  columns: () => number;
  colour: boolean;
}

export type Kind = "head" | "prompt" | "text" | "thinking" | "call" | "notice" | "end";

/** Between two of these there is no empty row. */
const TOGETHER = new Set<Kind>(["call", "notice", "end"]);

interface Look {
  mark: string;
  markStyle: Style;
  style: Style;
}

/** Rows with marks in front and empty rows between what does not belong together. All methods return what to print. */
export class Page {
  readonly paint: Paint;
  readonly #columns: () => number;
  #paragraph: { kind: Kind; lines: Paragraph; style: Style } | undefined;
  #last: Kind | undefined;

  constructor({ columns, colour }: PageOptions) {
    this.#columns = columns;
    this.paint = new Paint(colour);
  }

  /** Whether text is open that more may follow. */
  get isOpen(): boolean {
    return this.#paragraph !== undefined;
  }

  /** Where the cursor is, for the spinner: undefined at the beginning of a row, null if it is not known. */
  get openRow(): OpenRow | null | undefined {
    if (!this.#paragraph?.lines.begun) return undefined;
    const { lines, style } = this.#paragraph;
    const { cursor, pending } = lines;
    if (cursor === undefined) return null;
    return { cursor, pending, off: this.paint.off(style), on: this.paint.on(style) };
  }

  open(kind: Kind, { mark, markStyle, style }: Look): void {
    const columns = this.rowColumns;
    const lines = new Paragraph({ mark, markStyle, style, columns, paint: this.paint });
    this.#paragraph = { kind, lines, style };
  }

  push(text: string): string {
    const { paragraph, gap } = this.#writing();
    const out = paragraph?.lines.push(text) ?? "";
    return out === "" ? "" : this.#after(gap, paragraph?.kind) + out;
  }

  close(): string {
    const { paragraph, gap } = this.#writing();
    this.#paragraph = undefined;
    const out = paragraph?.lines.end() ?? "";
    return out === "" ? "" : this.#after(gap, paragraph?.kind) + out;
  }

  /** A whole paragraph, wrapped. */
  block(kind: Kind, look: Look, text: string): string {
    this.open(kind, look);
    return this.push(text) + this.close();
  }

  /** One row, cut if it is too long; `rest` may be coloured and is cut first. */
  row(kind: Kind, mark: string, head: string, rest: { text: string; style: Style }): string {
    const room = this.rowColumns - 2;
    const first = fit(visible(head), room);
    const more = rest.text === "" ? "" : fit(visible(` ${rest.text}`), Math.max(0, room - widthOf(first)));
    const gap = this.#gapBefore(kind);
    return `${this.#after(gap, kind)}${mark} ${this.paint.text("bold", first)}${this.paint.text(rest.style, more)}\n`;
  }

  /** A row that belongs to the one above. */
  below(text: string, style: Style): string {
    const shown = fit(visible(text), this.rowColumns - 2).trimEnd();
    return shown === "" ? "\n" : `  ${this.paint.text(style, shown)}\n`;
  }

  /** The same for a sentence, which is wrapped instead of cut. */
  sentenceBelow(text: string, style: Style): string {
    const columns = this.rowColumns - 2;
    const lines = new Paragraph({ mark: " ", markStyle: "plain", style, columns, paint: this.paint });
    return lines.push(text) + lines.end();
  }

  /** The last column stays free: terminals differ on where the cursor is behind it. */
  get rowColumns(): number {
    return this.#columns() - 1;
  }

  #writing() {
    const paragraph = this.#paragraph;
    const gap = paragraph && !paragraph.lines.begun ? this.#gapBefore(paragraph.kind) : "";
    return { paragraph, gap };
  }

  #gapBefore(kind: Kind): string {
    if (this.#last === undefined) return "";
    return kind === this.#last && TOGETHER.has(kind) ? "" : "\n";
  }

  #after(gap: string, kind: Kind | undefined): string {
    this.#last = kind;
    return gap;
  }
}
