type Container =
  | { kind: "array"; value: unknown[]; next: number }
  | { kind: "object"; value: Record<string, unknown>; key: string };

/** What may come next. */
type Expecting = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end" | "nothing";

const ESCAPED: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const SCALARS = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const SCALAR_CHARACTERS = /[-+.\w]*/y;
const SPACE = /[ \t\n\r]*/y;
const STRING_STOPS = /["\\]/g;

/**
 * JSON that comes in pieces, parsed as far as it goes: for showing a tool's arguments while the model writes them.
 *
 * What is open is closed: an unended string is there as far as it is known, an unended number, word or key is left out. Text
 * that is no JSON ends the parsing in silence, with what was there before. Each character is looked at once, and only when
 * the value is asked for, however the pieces are cut.
 */
export class PartialJson {
  #waiting: string[] = [];
  #expecting: Expecting = "value";
  #isBroken = false;
  readonly #open: Container[] = [];
  #root: unknown;
  /** The string that is being read; a key or a value. */
  #string: string | undefined;
  /** A backslash and what has come of its escape. */
  #escape = "";
  /** The number or word that is being read. */
  #scalar = "";

  push(piece: string): void {
    if (!this.#isBroken) this.#waiting.push(piece);
  }

  /**
   * The value so far; undefined before its beginning. Objects and arrays are the same ones from call to call, and grow.
   */
  get value(): unknown {
    const text = this.#waiting.join("");
    this.#waiting = [];
    for (let at = 0; at < text.length && !this.#isBroken;) at = this.#step(text, at);
    if (this.#string !== undefined && !this.#isKey) this.#put(this.#string);
    return this.#root;
  }

  get #isKey(): boolean {
    return this.#expecting === "key" || this.#expecting === "key or }";
  }

  /** Reads on from a place; returns how far it got. */
  #step(text: string, at: number): number {
    if (this.#escape !== "") return this.#readEscape(text, at);
    if (this.#string !== undefined) return this.#readString(text, at);
    if (this.#scalar !== "") return this.#readScalar(text, at);
    const next = matchEnd(SPACE, text, at);
    return next < text.length ? this.#readToken(text, next) : next;
  }

  #readToken(text: string, at: number): number {
    const character = text.charAt(at);
    const expecting = this.#expecting;
    if (expecting === ":") {
      if (character !== ":") return this.#break(at);
      this.#expecting = "value";
    } else if (expecting === ", or end") {
      return this.#readComma(character, at);
    } else if (character === '"' && expecting !== "nothing") {
      this.#string = "";
    } else if (character === "}" && expecting === "key or }") {
      this.#closeContainer();
    } else if (character === "]" && expecting === "value or ]") {
      this.#closeContainer();
    } else if (expecting === "value" || expecting === "value or ]") {
      return this.#readValue(text, at);
    } else {
      return this.#break(at);
    }
    return at + 1;
  }

  #readComma(character: string, at: number): number {
    const container = this.#open.at(-1);
    if (character === ",") this.#expecting = container?.kind === "array" ? "value" : "key";
    else if (character === (container?.kind === "array" ? "]" : "}")) this.#closeContainer();
    else return this.#break(at);
    return at + 1;
  }

  #readValue(text: string, at: number): number {
    switch (text.charAt(at)) {
      case "{":
        this.#openContainer({ kind: "object", value: {}, key: "" }, "key or }");
        return at + 1;
      case "[":
        this.#openContainer({ kind: "array", value: [], next: 0 }, "value or ]");
        return at + 1;
      default:
        return matchEnd(SCALAR_CHARACTERS, text, at) > at ? this.#readScalar(text, at) : this.#break(at);
    }
  }

  #readScalar(text: string, at: number): number {
    const end = matchEnd(SCALAR_CHARACTERS, text, at);
    this.#scalar += text.slice(at, end);
    // Only the character behind it tells that it is whole.
    if (end === text.length) return end;
    if (!SCALARS.test(this.#scalar)) return this.#break(end);
    this.#put(JSON.parse(this.#scalar));
    this.#scalar = "";
    this.#endValue();
    return end;
  }

  #readString(text: string, at: number): number {
    STRING_STOPS.lastIndex = at;
    const end = STRING_STOPS.exec(text)?.index ?? text.length;
    this.#string = (this.#string ?? "") + text.slice(at, end);
    if (end === text.length) return end;
    if (text[end] === "\\") this.#escape = "\\";
    else this.#endString();
    return end + 1;
  }

  #readEscape(text: string, at: number): number {
    const wanted = (this.#escape[1] ?? text[at]) === "u" ? 6 : 2;
    const end = Math.min(text.length, at + wanted - this.#escape.length);
    const escape = this.#escape + text.slice(at, end);
    this.#escape = escape.length < wanted ? escape : "";
    if (escape.length < wanted) return end;
    const character = wanted === 6 ? fromHex(escape.slice(2)) : ESCAPED[escape.slice(1)];
    if (character === undefined) return this.#break(end);
    this.#string += character;
    return end;
  }

  #endString(): void {
    const text = this.#string ?? "";
    this.#string = undefined;
    const container = this.#open.at(-1);
    if (this.#isKey && container?.kind === "object") {
      container.key = text;
      this.#expecting = ":";
    } else {
      this.#put(text);
      this.#endValue();
    }
  }

  #openContainer(container: Container, expecting: Expecting): void {
    this.#put(container.value);
    this.#open.push(container);
    this.#expecting = expecting;
  }

  #closeContainer(): void {
    this.#open.pop();
    this.#endValue();
  }

  /** Puts a value, whole or not, where it belongs. */
  #put(value: unknown): void {
    const container = this.#open.at(-1);
    if (!container) this.#root = value;
    else if (container.kind === "array") container.value[container.next] = value;
    else setOwn(container.value, container.key, value);
  }

  #endValue(): void {
    const container = this.#open.at(-1);
    if (container?.kind === "array") container.next += 1;
    this.#expecting = container ? ", or end" : "nothing";
  }

  #break(at: number): number {
    this.#isBroken = true;
    return at;
  }
}

/** Where what a sticky pattern matches at a place ends. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

function fromHex(digits: string): string | undefined {
  return /^[0-9a-fA-F]{4}$/.test(digits) ? String.fromCharCode(Number.parseInt(digits, 16)) : undefined;
}

/** Sets a key as JSON.parse does: `__proto__` is a key like any other. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
