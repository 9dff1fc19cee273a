// What bash makes of a line of text, for the small part of its grammar that rules about commands can trust.

/** A word of a command. */
export interface Word {
  /** What the program gets, if nothing in it is wild. */
  text: string;
  /** As it was written, quotes and all. */
  source: string;
  /** Where in `text` an unquoted `*`, `?` or `[` stands: bash may put any number of file names here. */
  wild: readonly number[];
}

export type Operator = "&&" | "||" | ";" | "|" | "\n";

export type Token =
  | { kind: "word"; word: Word }
  | { kind: "operator"; operator: Operator }
  /** One that cannot touch a file. `both` is `&>`, which other shells read as `&` and `>`. */
  | { kind: "redirection"; both: boolean };

/** Thrown for text that bash may read differently than we do. The message says what it is. */
export class NotUnderstood extends Error {}

// Older bashes use some control characters inside; a terminal shows others as something else.
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const BLANKS = /[ \t]*/y;
const REDIRECTION = /(?:[12]?>[ \t]*\/dev\/null|(&)>[ \t]*\/dev\/null|2>&1|1?>&2)(?=[ \t\n;|]|&&|$)/y;
// `;;`, `;&` and `|&` mean something else.
const OPERATOR = /&&|\|\||;(?![;&])|\|(?!&)|\n/y;

/** Characters without a meaning of their own, wherever they stand. */
const PLAIN = /[\w@%+:,./=\-^\]]/;
const WILD = "*?[";

const REASONS: Readonly<Record<string, string>> = {
  $: "a $ is expanded by the shell",
  "`": "backticks run a command",
  "<": "input is redirected",
  ">": "output is redirected; only `> /dev/null`, `2> /dev/null`, `&> /dev/null` and `2>&1` are understood, with a blank in front",
  "(": "( ) has a meaning to the shell",
  ")": "( ) has a meaning to the shell",
  "{": "{ } has a meaning to the shell",
  "}": "{ } has a meaning to the shell",
  "~": "a ~ is expanded by the shell",
  "#": "there is a comment",
  "!": "a ! outside single quotes has a meaning to the shell",
  "&": "& starts something in the background",
};

/**
 * Splits a command into words, operators and redirections as bash does.
 * @throws NotUnderstood if anything in it is more than that.
 */
export function tokenize(source: string): Token[] {
  if (!source.isWellFormed() || CONTROL.test(source)) {
    throw new NotUnderstood("it holds a control character or broken text");
  }
  const tokens: Token[] = [];
  let at = skip(BLANKS, source, 0);
  while (at < source.length) {
    const { token, end } = nextToken(source, at);
    tokens.push(token);
    at = skip(BLANKS, source, end);
  }
  return tokens;
}

function nextToken(source: string, at: number): { token: Token; end: number } {
  const redirection = matchAt(REDIRECTION, source, at);
  if (redirection) {
    const both = redirection[1] !== undefined;
    return { token: { kind: "redirection", both }, end: at + redirection[0].length };
  }
  const operator = matchAt(OPERATOR, source, at)?.[0];
  if (isOperator(operator)) return { token: { kind: "operator", operator }, end: at + operator.length };
  const reader = new WordReader(source, at);
  const word = reader.read();
  return { token: { kind: "word", word }, end: at + word.source.length };
}

function isOperator(text: string | undefined): text is Operator {
  return text === "&&" || text === "||" || text === ";" || text === "|" || text === "\n";
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function skip(pattern: RegExp, source: string, at: number): number {
  return at + (matchAt(pattern, source, at)?.[0].length ?? 0);
}

class WordReader {
  readonly #source: string;
  readonly #start: number;
  #at: number;
  #text = "";
  readonly #wild: number[] = [];

  constructor(source: string, start: number) {
    this.#source = source;
    this.#start = start;
    this.#at = start;
  }

  read(): Word {
    while (!this.#isOver()) this.#piece();
    const source = this.#source.slice(this.#start, this.#at);
    if (source === "") throw this.#refuse(this.#source[this.#at]);
    // Alone it is the program `[`, or its name as an argument, and matches no other file.
    return { text: this.#text, source, wild: source === "[" ? [] : this.#wild };
  }

  #isOver(): boolean {
    const character = this.#source[this.#at];
    return character === undefined || " \t\n;|&".includes(character);
  }

  #piece(): void {
    const character = this.#source[this.#at] ?? "";
    switch (character) {
      case "'":
        return this.#singleQuoted();
      case '"':
        return this.#doubleQuoted();
      case "\\":
        return this.#escaped();
      default:
        if (WILD.includes(character)) this.#wild.push(this.#text.length);
        else if (!this.#isPlain(character)) throw this.#refuse(character);
        this.#text += character;
        this.#at += 1;
    }
  }

  #isPlain(character: string): boolean {
    if (PLAIN.test(character)) return true;
    // `HEAD~1` and `a#b`: these two mean something only where a word, or a value, begins.
    if (character === "#") return this.#at > this.#start;
    return character === "~" && this.#at > this.#start && /[\w^~]/.test(this.#source[this.#at - 1] ?? "");
  }

  #singleQuoted(): void {
    const end = this.#source.indexOf("'", this.#at + 1);
    if (end === -1) throw new NotUnderstood("a quote is not closed");
    this.#text += this.#source.slice(this.#at + 1, end);
    this.#at = end + 1;
  }

  #doubleQuoted(): void {
    for (this.#at += 1; this.#source[this.#at] !== '"'; this.#at += 1) {
      const character = this.#source[this.#at];
      const next = this.#source[this.#at + 1];
      if (character === undefined) throw new NotUnderstood("a quote is not closed");
      if (character === "!" || character === "`") throw this.#refuse(character);
      // `grep "x$"`: a dollar with nothing to expand behind it is a dollar.
      if (character === "$" && !(next !== undefined && '" |)'.includes(next))) throw this.#refuse(character);
      if (character === "\\") this.#checkBackslash(next);
      if (character === "\\" && next !== undefined && '$`"\\'.includes(next)) {
        this.#text += next;
        this.#at += 1;
      } else {
        this.#text += character;
      }
    }
    this.#at += 1;
  }

  #escaped(): void {
    const next = this.#source[this.#at + 1];
    this.#checkBackslash(next);
    this.#text += next ?? "";
    this.#at += 2;
  }

  #checkBackslash(next: string | undefined): void {
    if (next === "\n") throw new NotUnderstood("a line is continued with a backslash");
    // In some encodings a backslash is the second half of the character before it.
    const before = this.#source[this.#at - 1] ?? "";
    if (next === undefined || next > "\x7f" || before > "\x7f") {
      throw new NotUnderstood("a backslash stands at the end, or beside a character that is not ASCII");
    }
  }

  #refuse(character = ""): NotUnderstood {
    if (character > "\x7f") return new NotUnderstood("a character that is not ASCII stands outside quotes");
    return new NotUnderstood(REASONS[character] ?? `${JSON.stringify(character)} is not understood`);
  }
}
