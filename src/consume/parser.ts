import type { LinefeedEvent } from "../protocol/event.ts";
import { PROTOCOL_VERSION } from "../protocol/version.ts";
import { InvalidLineError, invalidLine, type InvalidLine, type InvalidReason } from "./invalid.ts";
import { isKnownType, unknownEvent, type StreamItem } from "./item.ts";
import { LineSplitter, type Line, type TextLine } from "./lines.ts";
import { isObject } from "./schema-check.ts";
import { EventChecks, type Validation } from "./validate.ts";

/** What becomes of a line that is no event: handed on in its place, thrown, or left out. */
export type OnInvalid = "yield" | "throw" | "skip";

export interface ParseOptions {
  /**
   * What becomes of a line that is no event. `"yield"`, the default, hands it on as `{type: "invalid", …}`: one bad line
   * costs neither the stream nor the knowledge that it was there. `"throw"` throws an {@link InvalidLineError}. `"skip"`
   * leaves it out, but for an unknown protocol, which is thrown: that is no bad line but a stream of another meaning.
   */
  onInvalid?: OnInvalid | undefined;
  /** How much of each known event is checked. Default `"full"`. */
  validate?: Validation | undefined;
  /** Longer lines are skipped and reported, in bytes without the LF. Default 64 MiB. */
  maxLineBytes?: number | undefined;
}

/** A line that is a JSON object. */
export interface ObjectLine {
  type: "object";
  line: TextLine;
  object: Record<string, unknown>;
}

type ReadObject<Item> = (line: TextLine, object: Record<string, unknown>) => Item | InvalidLine;

const readObject: ReadObject<ObjectLine> = (line, object) => ({ type: "object", line, object });

function isInvalid(item: { type: string }): item is InvalidLine {
  return item.type === "invalid";
}

/**
 * Bytes to events, without I/O: `push` a chunk, take items with `next` until there are none, push the next chunk; after
 * the last one call `end` and take what is left. Lines are parsed as they are taken.
 */
export class EventParser {
  readonly #lines: LineSplitter;
  readonly #checks: EventChecks;
  readonly #onInvalid: OnInvalid;
  readonly #source: string | null;
  readonly #readEvent = (line: TextLine, object: Record<string, unknown>) => this.#event(line, object);
  #line = 0;

  /** Throws a TypeError or RangeError for an option that is none. */
  constructor(options: ParseOptions = {}, source: string | null = null) {
    const { onInvalid = "yield", validate = "full", maxLineBytes } = options;
    if (!["yield", "throw", "skip"].includes(onInvalid)) {
      throw new TypeError(`onInvalid is "yield", "throw" or "skip", not ${JSON.stringify(onInvalid)}`);
    }
    this.#lines = new LineSplitter({ maxLineBytes });
    this.#checks = new EventChecks(validate);
    this.#onInvalid = onInvalid;
    this.#source = source;
  }

  /** The number of the line that the latest item stood on. */
  get line(): number {
    return this.#line;
  }

  push(chunk: Uint8Array | string): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
  }

  /** The next item; undefined when the chunk holds no more. Throws what {@link ParseOptions.onInvalid} says. */
  next(): StreamItem | undefined {
    return this.#next(this.#readEvent);
  }

  /** The same, but objects are handed on as they stand on their lines, whatever they say. @internal */
  nextObject(): ObjectLine | InvalidLine | undefined {
    return this.#next(readObject);
  }

  /** The event that such an object is. @internal */
  eventOf({ line, object }: ObjectLine): StreamItem | undefined {
    return this.#wanted(this.#event(line, object));
  }

  /** What is handed on in place of an object that another agent cannot have meant so. @internal */
  faultOf({ line, object }: ObjectLine, fault: string): StreamItem | undefined {
    return this.#wanted(this.#invalid(line, "wrong_fields", fault, object));
  }

  #next<Item extends { type: string }>(read: ReadObject<Item>): Item | InvalidLine | undefined {
    for (let line = this.#lines.next(); line; line = this.#lines.next()) {
      this.#line = line.number;
      const item = this.#itemOf(line, read);
      if (item && this.#wanted(item)) return item;
    }
    return undefined;
  }

  #wanted<Item extends { type: string }>(item: Item | InvalidLine): Item | InvalidLine | undefined {
    if (!isInvalid(item) || this.#onInvalid === "yield") return item;
    if (this.#onInvalid === "throw" || item.reason === "protocol") throw new InvalidLineError(item);
    return undefined;
  }

  /** What a line is; undefined for a blank one. */
  #itemOf<Item>(line: Line, read: ReadObject<Item>): Item | InvalidLine | undefined {
    if (line.kind === "too_long")
      return this.#invalid(
        line,
        "too_long",
        `${line.bytes} bytes, the limit is ${this.#lines.maxLineBytes} (maxLineBytes)`,
      );
    if (!line.wellFormed) return this.#invalid(line, "not_utf8", "not UTF-8");
    let value: unknown;
    try {
      value = JSON.parse(line.text);
    } catch (error) {
      return this.#notJson(line, error);
    }
    if (!isObject(value)) return this.#invalid(line, "not_an_event", "not a JSON object");
    return read(line, value);
  }

  #notJson(line: TextLine, error: unknown): InvalidLine | undefined {
    if (line.text.trim() === "") return undefined;
    if (!line.ended) return this.#invalid(line, "truncated", "the last line is cut off");
    return this.#invalid(
      line,
      "not_json",
      `not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  #event(line: TextLine, object: Record<string, unknown>): StreamItem {
    const { type } = object;
    if (typeof type !== "string")
      return this.#invalid(line, "not_an_event", "an object without a `type`", object);
    if (!isKnownType(type)) return unknownEvent(type, object);
    if (type === "init" && isLaterProtocol(object["protocol"])) {
      const what = `protocol ${object["protocol"]} is newer than ${PROTOCOL_VERSION}, the one known here; update linefeed`;
      return this.#invalid(line, "protocol", what, object);
    }
    const fault = this.#checks.faultOf(type, object);
    if (fault !== undefined) return this.#invalid(line, "wrong_fields", `\`${type}\`: ${fault}`, object);
    return asEvent(object);
  }

  #invalid(line: Line, reason: InvalidReason, what: string, raw?: Record<string, unknown>): InvalidLine {
    const { number, bytes, text } = line;
    return invalidLine(reason, what, { source: this.#source, line: number, bytes, text }, raw);
  }
}

function isLaterProtocol(protocol: unknown): protocol is number {
  return typeof protocol === "number" && protocol > PROTOCOL_VERSION;
}

/**
 * The checks have proved what the type says, from the schema that the type is made of. Whoever asked for fewer checks has
 * taken it upon himself.
 */
function asEvent(object: Record<string, unknown>): LinefeedEvent {
  return object as unknown as LinefeedEvent;
}
