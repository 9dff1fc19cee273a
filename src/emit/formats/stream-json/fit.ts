import { encodeJson } from "../../encode.ts";

/**
 * A line, LF included, has fewer bytes than this: the Python SDK gives up on a line of 1 MiB, which its caller
 * can hardly get around.
 */
export const LINE_BYTES = 1_000_000;

/** Of a text that is cut, so much of what is kept is its beginning; the rest is its end. */
const HEAD_SHARE = 0.75;
/** What a cut leaves is not worth having below this, in bytes; then whole members go instead. */
const LEAST_BYTES = 400;
/** Deeper than this nothing is looked into: it is cut as a whole. */
const DEEPEST = 100;
const WHY = "a line of stream-json stays under 1 MiB";

type Members = [key: string, value: unknown][];

/**
 * A line of stream-json, LF included. One that would be too long loses what its longest texts have in the middle; in their
 * place stands how much that was. An image goes as a whole.
 */
export function encodeFitting(line: object): string {
  const json = encodeJson(line);
  if (fits(json)) return `${json}\n`;
  return `${encodeJson(new Shortening().shorten(line, LINE_BYTES - 2, 0))}\n`;
}

function fits(json: string): boolean {
  // No UTF-16 code unit has more than three bytes.
  return json.length * 3 < LINE_BYTES - 1 || Buffer.byteLength(json) < LINE_BYTES - 1;
}

class Shortening {
  /** The bytes of what has been measured. */
  readonly #sizes = new WeakMap<object, number>();

  shorten(value: unknown, budget: number, depth: number): unknown {
    if (this.#size(value, depth) <= budget) return value;
    if (typeof value === "string") return cutText(value, budget);
    if (typeof value !== "object" || value === null) return value;
    if (isImage(value)) return textBlock(`linefeed left out an image here: ${WHY}`);
    if (depth >= DEEPEST) return mark("a value");
    return Array.isArray(value)
      ? this.#shortenArray(value, budget, depth)
      : this.#shortenRecord(value, budget, depth);
  }

  #shortenRecord(value: object, budget: number, depth: number): object {
    const members = membersOf(value);
    const names = members.reduce((sum, [key]) => sum + bytesOf(key) + 2, 2);
    const { kept, level } = this.#share(members, budget - names, depth);
    const short: Members = kept.map(([key, member]) => [key, this.shorten(member, level, depth + 1)]);
    const left = members.length - kept.length;
    if (left > 0) short.push(["…", mark(`${left} of ${members.length} members`)]);
    return Object.fromEntries(short);
  }

  #shortenArray(value: unknown[], budget: number, depth: number): unknown[] {
    const members: Members = value.map((member, index) => [String(index), member]);
    const { kept, level } = this.#share(members, budget - value.length - 2, depth);
    const short = kept.map(([, member]) => this.shorten(member, level, depth + 1));
    const left = value.length - kept.length;
    if (left === 0) return short;
    const text = mark(`${left} of ${value.length} members`);
    // Clients take each member of a message for a block.
    return [...short, isBlock(value[0]) ? textBlock(text) : text];
  }

  /** Which members stay, and how many bytes each of them may have. */
  #share(members: Members, budget: number, depth: number): { kept: Members; level: number } {
    const sizes = members.map(([, member]) => this.#size(member, depth + 1));
    const level = levelOf(sizes, budget);
    if (level >= LEAST_BYTES) return { kept: members, level };
    let room = budget - LEAST_BYTES;
    let count = 0;
    for (const size of sizes) {
      room -= size;
      if (room < 0) break;
      count += 1;
    }
    return { kept: members.slice(0, count), level: Infinity };
  }

  /** Its bytes as JSON. */
  #size(value: unknown, depth: number): number {
    if (typeof value !== "object" || value === null || depth > DEEPEST) return bytesOf(value);
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    let size = 2;
    for (const [key, member] of membersOf(value)) {
      size += this.#size(member, depth + 1) + (Array.isArray(value) ? 1 : bytesOf(key) + 2);
    }
    this.#sizes.set(value, size);
    return size;
  }
}

/** The most that each may have so that all of them have no more than `budget`, the small ones as much as they need. */
function levelOf(sizes: readonly number[], budget: number): number {
  let room = budget;
  const sorted = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of sorted.entries()) {
    const share = Math.floor(room / (sorted.length - index));
    if (size > share) return share;
    room -= size;
  }
  return Infinity;
}

/** Keeps the beginning and the end of a text. Never cuts a surrogate pair. */
function cutText(text: string, budget: number): string {
  const room = budget - 2 - bytesOf(cutMark(text.length, text.length));
  const head = headOf(text, Math.floor(room * HEAD_SHARE));
  const tail = tailOf(text, Math.floor(room * (1 - HEAD_SHARE)));
  return `${head}${cutMark(text.length - head.length - tail.length, text.length)}${tail}`;
}

function cutMark(cut: number, of: number): string {
  return ` … [${mark(`${cut} of ${of} characters`)}] … `;
}

function mark(what: string): string {
  return `linefeed cut ${what} here: ${WHY}`;
}

function headOf(text: string, budget: number): string {
  const length = longest(
    Math.min(text.length, budget),
    (units) => contentBytes(text.slice(0, units)),
    budget,
  );
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

function tailOf(text: string, budget: number): string {
  const from = (units: number) => text.slice(text.length - units);
  const tail = from(longest(Math.min(text.length, budget), (units) => contentBytes(from(units)), budget));
  return isLowSurrogate(tail.charCodeAt(0)) ? tail.slice(1) : tail;
}

/** The largest length up to `most` whose bytes are within the budget. */
function longest(most: number, bytes: (units: number) => number, budget: number): number {
  let low = 0;
  let high = Math.max(0, most);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytes(middle) <= budget) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The bytes of a text inside its quotes. */
function contentBytes(text: string): number {
  return bytesOf(text) - 2;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(encodeJson(value));
}

/** As JSON has them: what is undefined is not there, but in an array. */
function membersOf(value: object): Members {
  const members = Object.entries(value);
  return Array.isArray(value) ? members : members.filter(([, member]) => member !== undefined);
}

function isImage(value: object): boolean {
  return "type" in value && value.type === "image";
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value;
}

function textBlock(text: string): { type: "text"; text: string } {
  return { type: "text", text };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
