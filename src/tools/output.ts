import { Spill } from "./spill.ts";
import { headOf, tailOf } from "./text.ts";
import type { ToolOutput } from "./tool.ts";

/** What the model gets of one output at most, in UTF-16 code units, the words about the cut included. */
export const MODEL_UNITS = 30_000;
/** What is streamed live of one call at most, in UTF-16 code units. */
export const LIVE_UNITS = 1024 * 1024;

export interface CollectorOptions {
  /** The folder for whole outputs; asked for only if one is needed. */
  directory: () => string;
  toolUseId: string;
  modelUnits?: number;
  liveUnits?: number;
}

export interface CollectedOutput {
  /** At most `modelUnits`: all of it, or head and tail with the cut named between them. */
  text: string;
  truncated: boolean;
  /** The file with the whole, if there is more than `text` or the live output holds. */
  outputFile: string | null;
}

/**
 * Collects the output of one call, both streams in the order of arrival. Keeps no more in memory than
 * what the model may get; the whole goes to a file once it is more than that.
 */
export class OutputCollector {
  readonly #options: CollectorOptions;
  readonly #modelUnits: number;
  readonly #liveUnits: number;
  #head = "";
  #tail = "";
  #total = 0;
  #live = 0;
  #spill: Spill | undefined;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#modelUnits = options.modelUnits ?? MODEL_UNITS;
    this.#liveUnits = options.liveUnits ?? LIVE_UNITS;
  }

  /** Takes a piece; returns what of it is to be shown live, if anything. */
  add(piece: ToolOutput): ToolOutput | undefined {
    const live = headOf(piece.text, this.#liveUnits - this.#live);
    // The rest of the allowance is used up too, so that after the first gap nothing follows.
    this.#live += live.length === piece.text.length ? live.length : this.#liveUnits;
    this.#store(piece.text);
    return live === "" ? undefined : { stream: piece.stream, text: live };
  }

  /** Ends the collecting. `truncated` and `outputFile` are final only now. */
  finish(): CollectedOutput {
    this.#spill?.close();
    const outputFile = this.#spill?.path ?? null;
    if (this.#total <= this.#modelUnits)
      return { text: this.#head + this.#tail, truncated: false, outputFile };
    return { text: this.#shortened(), truncated: true, outputFile };
  }

  #store(text: string): void {
    this.#spill?.write(text);
    this.#total += text.length;
    const room = this.#modelUnits - this.#head.length;
    const head = this.#tail === "" ? headOf(text, room) : "";
    this.#head += head;
    this.#tail += text.slice(head.length);
    if (!this.#spill && (this.#total > this.#modelUnits || this.#live >= this.#liveUnits)) this.#startSpill();
    // Cut now and then, not each time: so every character is copied a fixed number of times.
    if (this.#tail.length > 4 * this.#modelUnits) this.#tail = tailOf(this.#tail, this.#modelUnits);
  }

  #startSpill(): void {
    this.#spill = new Spill(this.#options.directory, this.#options.toolUseId);
    this.#spill.write(this.#head + this.#tail);
  }

  #shortened(): string {
    const room = Math.max(0, this.#modelUnits - this.#cut(this.#total).length);
    const head = headOf(this.#head, Math.ceil(room / 2));
    const kept = this.#tail.length >= room ? this.#tail : this.#head + this.#tail;
    const tail = tailOf(kept, Math.floor(room / 2));
    return head + this.#cut(this.#total - head.length - tail.length) + tail;
  }

  #cut(leftOut: number): string {
    const where = this.#spill?.path
      ? `the whole output is in ${this.#spill.path}`
      : `the whole output could not be kept: ${this.#spill?.failure ?? "no file"}`;
    return `\n\n[… ${leftOut} characters left out here; ${where} …]\n\n`;
  }
}
