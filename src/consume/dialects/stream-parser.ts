import { DIALECTS, type DialectName } from "../../protocol/words.ts";
import type { InvalidLine } from "../invalid.ts";
import type { StreamItem } from "../item.ts";
import { EventParser, type ObjectLine, type ParseOptions } from "../parser.ts";
import { Detector, type StreamOwner } from "./detect.ts";
import type { Converter } from "./converter.ts";

/** Whose lines are read: whoever's they are, which the first of them tell, ours, or those of another agent. */
export const DIALECT_CHOICES = ["auto", "linefeed", ...DIALECTS] as const;
export type DialectChoice = (typeof DIALECT_CHOICES)[number];

export interface StreamOptions extends ParseOptions {
  /**
   * Whose lines are read. `"auto"`, the default, finds it out from the first of them. The lines of other agents come out as
   * our events.
   */
  dialect?: DialectChoice | undefined;
}

type Line = ObjectLine | InvalidLine;

/** So much waits at most until it is known whose it is. */
const HELD_LINES = 32;
const HELD_BYTES = 1024 * 1024;

/**
 * Bytes of any agent to events, to be used like an {@link EventParser}, with one difference: where `next` has none and
 * `loading` is there, wait for it and ask again.
 */
export class StreamParser {
  readonly #parser: EventParser;
  readonly #now: () => Date;
  readonly #detector = new Detector();
  #owner: StreamOwner | undefined;
  /** What came before it was known whose it is. */
  readonly #held: Line[] = [];
  #ready: StreamItem[] = [];
  #readyAt = 0;
  #converter: Converter | undefined;
  #loading: Promise<void> | undefined;
  #isEnding = false;

  /**
   * Throws a TypeError or RangeError for an option that is none.
   *
   * @param now the time of reading, for lines that do not say theirs.
   */
  constructor(
    { dialect = "auto", ...options }: StreamOptions = {},
    source: string | null = null,
    now: () => Date = () => new Date(),
  ) {
    if (!DIALECT_CHOICES.includes(dialect)) {
      throw new TypeError(`dialect is one of ${DIALECT_CHOICES.join(", ")}, not ${JSON.stringify(dialect)}`);
    }
    this.#parser = new EventParser(options, source);
    this.#now = now;
    if (dialect !== "auto") this.#decide(dialect);
  }

  /** What has to be waited for before there is more. */
  get loading(): Promise<void> | undefined {
    return this.#loading;
  }

  push(chunk: Uint8Array | string): void {
    this.#parser.push(chunk);
  }

  end(): void {
    this.#isEnding = true;
    this.#parser.end();
  }

  /** The next item. Throws what {@link ParseOptions.onInvalid} says. */
  next(): StreamItem | undefined {
    if (this.#readyAt < this.#ready.length) return this.#ready[this.#readyAt++];
    if (this.#owner === "linefeed" && this.#held.length === 0) return this.#parser.next();
    return this.#read();
  }

  #read(): StreamItem | undefined {
    while (!this.#loading) {
      const line = this.#nextLine();
      if (!line) return this.#isEnding ? this.#finish() : undefined;
      const item = this.#owner === undefined ? this.#detect(line) : this.#itemOf(line);
      if (item) return item;
    }
    return undefined;
  }

  /** Once it is known whose they are, the lines that were held come first. */
  #nextLine(): Line | undefined {
    return this.#owner === undefined
      ? this.#parser.nextObject()
      : (this.#held.shift() ?? this.#parser.nextObject());
  }

  /** A banner before the first object is handed on at once; what comes behind an object that says nothing waits with it. */
  #detect(line: Line): StreamItem | undefined {
    if (line.type === "invalid" && this.#held.length === 0) return line;
    this.#held.push(line);
    const owner = line.type === "object" ? this.#detector.add(line.object) : undefined;
    if (owner !== undefined) this.#decide(owner);
    else if (this.#isEnough()) this.#decide(this.#detector.guess());
    return undefined;
  }

  #isEnough(): boolean {
    const bytes = this.#held.reduce(
      (sum, held) => sum + (held.type === "object" ? held.line : held).bytes,
      0,
    );
    return this.#held.length >= HELD_LINES || bytes >= HELD_BYTES;
  }

  #decide(owner: StreamOwner): void {
    this.#owner = owner;
    if (owner === "linefeed") return;
    this.#loading = this.#load(owner);
    // Who waits for it is told; nobody has to.
    this.#loading.catch(() => undefined);
  }

  async #load(name: DialectName): Promise<void> {
    const [{ Converter }, { loadDialect }] = await Promise.all([
      import("./converter.ts"),
      import("./dialect.ts"),
    ]);
    this.#converter = new Converter(name, await loadDialect(name), this.#now);
    this.#loading = undefined;
  }

  #itemOf(line: Line): StreamItem | undefined {
    if (line.type === "invalid") return line;
    const { type } = line.object;
    if (!this.#converter || typeof type !== "string") return this.#parser.eventOf(line);
    const { items, fault } = this.#converter.line(type, line.object, line.line.text);
    const invalid = fault === undefined ? undefined : this.#parser.faultOf(line, fault);
    return this.#handOn(invalid ? [...items, invalid] : items);
  }

  /** The lines are over. Asked again, it has nothing more. */
  #finish(): StreamItem | undefined {
    if (this.#owner === undefined) {
      this.#decide(this.#detector.guess());
      return this.next();
    }
    const converter = this.#converter;
    this.#converter = undefined;
    return converter ? this.#handOn(converter.end()) : undefined;
  }

  #handOn(items: StreamItem[]): StreamItem | undefined {
    this.#ready = items;
    this.#readyAt = 0;
    return items.length > 0 ? this.#ready[this.#readyAt++] : undefined;
  }
}
