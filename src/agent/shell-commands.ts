import { NotUnderstood, tokenize, type Operator, type Word } from "./shell-words.ts";

/** A program with its arguments; redirections that cannot touch a file are left out. */
export interface SimpleCommand {
  /** Never empty; the first is the program, and is not wild. */
  words: readonly [Word, ...Word[]];
}

/** The simple commands that bash would run, some of them or all; or why that cannot be told. */
export type Understanding = { commands: readonly SimpleCommand[] } | { why: string };

/** Words that are no program where a command begins. */
const RESERVED = new Set(
  (
    "! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while " +
    "end foreach nocorrect noglob repeat"
  ).split(" "),
);

/**
 * Reads a command as bash would: simple commands joined by `&&`, `||`, `;`, `|` or newlines, of literal words.
 * Whatever is not certainly that is not understood.
 */
export function understand(command: string): Understanding {
  try {
    return { commands: simpleCommands(command) };
  } catch (error) {
    if (error instanceof NotUnderstood) return { why: error.message };
    throw error;
  }
}

/** A simple command as it was written, but for blanks and redirections. */
export function sourceOf({ words }: SimpleCommand): string {
  return words.map(({ source }) => source).join(" ");
}

function simpleCommands(command: string): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let part = new Part();
  let joint: Operator = ";";
  for (const token of tokenize(command)) {
    if (token.kind === "word") {
      part.addWord(token.word);
    } else if (token.kind === "redirection") {
      part.addRedirection(token.both);
    } else if (!(token.operator === "\n" && part.isEmpty)) {
      commands.push(part.finish());
      part = new Part();
      joint = token.operator;
    }
  }
  // After `;` or a newline nothing needs to follow.
  const mayEnd = commands.length > 0 && (joint === ";" || joint === "\n");
  if (!part.isEmpty || !mayEnd) commands.push(part.finish());
  return commands;
}

class Part {
  readonly #words: Word[] = [];
  #redirected: "no" | "yes" | "both" = "no";

  get isEmpty(): boolean {
    return this.#words.length === 0 && this.#redirected === "no";
  }

  addWord(word: Word): void {
    // Where there is no bash, `sh` runs what follows as a command of its own.
    if (this.#redirected === "both") throw new NotUnderstood("something follows &> /dev/null");
    this.#words.push(word);
  }

  addRedirection(both: boolean): void {
    if (this.#redirected !== "both") this.#redirected = both ? "both" : "yes";
  }

  finish(): SimpleCommand {
    const [program, ...rest] = this.#words;
    if (!program) throw new NotUnderstood("a command is missing");
    const why = notAProgram(program) ?? evaluates(program.text, rest);
    if (why !== undefined) throw new NotUnderstood(why);
    return { words: [program, ...rest] };
  }
}

/** Why a word where a command begins is no literal name of a program; undefined if it is one. */
export function notAProgram({ text, wild }: Word): string | undefined {
  if (text === "") return "the name of a program is empty";
  if (wild.length > 0) return "the name of a program holds a wildcard";
  if (text.includes("=")) return "a variable is set in front of a command";
  if (RESERVED.has(text)) return `${text} is a word of the shell`;
  return text.startsWith("%") ? "a job is called by its number" : undefined;
}

/** `printf` and `test` are harmless but for options that set variables, or run what stands in an index. */
function evaluates(program: string, rest: readonly Word[]): string | undefined {
  if (program === "printf") {
    const sets = ({ text, wild }: Word) => wild.length > 0 || /%[^%a-zA-Z]*[hlLjzt]*n/.test(text);
    if (rest[0]?.text.startsWith("-v") || rest.some(sets)) return "printf may set a variable of the shell";
  }
  if (program === "test" || program === "[") {
    const looksUp = ({ text, wild }: Word) => wild.length > 0 || text === "-v" || text === "-R";
    if (rest.some(looksUp)) return `${program} may look up a variable of the shell`;
  }
  return undefined;
}
