export type Style = "plain" | "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const CODES: Record<Exclude<Style, "plain">, readonly [on: number, off: number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Colours, or none. */
export class Paint {
  readonly #colour: boolean;

  constructor(colour: boolean) {
    this.#colour = colour;
  }

  on(style: Style): string {
    return this.#colour && style !== "plain" ? `\u001b[${CODES[style][0]}m` : "";
  }

  off(style: Style): string {
    return this.#colour && style !== "plain" ? `\u001b[${CODES[style][1]}m` : "";
  }

  text(style: Style, text: string): string {
    return text === "" ? "" : this.on(style) + text + this.off(style);
  }
}
