/** What the scan of the command line needs to know of an option. */
export interface OptionShape {
  /** `-p`, `--print`: every spelling. */
  names: readonly string[];
  takesValue: boolean;
}

/** The option whose value may begin with dashes, since it is a prompt. */
const PROMPT_OPTION = "--print";
export const PROMPT_NAMES = ["-p", "--print", "--prompt"];

/**
 * Brings a command line into the form that the parser understands: camelCase options become
 * kebab-case, and a prompt behind `-p`, which may begin with dashes, is tied to it.
 */
export function normalizeArgv(argv: readonly string[], options: readonly OptionShape[]): string[] {
  const shapes = new Map(options.flatMap((option) => option.names.map((name) => [name, option] as const)));
  const normal: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    const tied = /^(?:-p|--print|--prompt)=(.*)$/s.exec(word)?.[1];
    if (word === "--") return [...normal, ...argv.slice(index)];
    const option = kebab(word, shapes);
    if (tied !== undefined) {
      normal.push(`${PROMPT_OPTION}=${tied}`);
    } else if (option === "--json") {
      // A plain synonym: of several formats the last one counts.
      normal.push("--output-format=jsonl");
    } else if (option === "--debug") {
      // Its file is always tied to it, so that it takes no prompt for one.
      normal.push("--debug=");
    } else if (PROMPT_NAMES.includes(option)) {
      const next = argv[index + 1];
      if (next !== undefined && isPrompt(next, shapes)) {
        normal.push(`${PROMPT_OPTION}=${next}`);
        index += 1;
      } else {
        normal.push(PROMPT_OPTION);
      }
    } else if (shapes.get(option)?.takesValue && index + 1 < argv.length) {
      normal.push(option, argv[index + 1] ?? "");
      index += 1;
    } else {
      normal.push(option);
    }
  }
  return normal;
}

/**
 * The first bare word of a command line, and the rest without it. None if a prompt is asked for by `-p`, before the word or
 * behind it, since then no word is a command.
 */
export function firstWord(
  argv: readonly string[],
  options: readonly OptionShape[],
): { word: string; rest: string[] } | undefined {
  const shapes = new Map(options.flatMap((option) => option.names.map((name) => [name, option] as const)));
  let first: { word: string; rest: string[] } | undefined;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    const name = kebab(word, shapes);
    if (word === "--") return first;
    if (PROMPT_NAMES.includes(name.replace(/=.*$/s, ""))) return undefined;
    if (!word.startsWith("-")) first ??= { word, rest: argv.toSpliced(index, 1) };
    if (shapes.get(name)?.takesValue) index += 1;
  }
  return first;
}

/** `--allowedTools=x` → `--allowed-tools=x`, where that is an option. */
export function kebab(word: string, shapes: { has(name: string): boolean }): string {
  const match = /^(--[a-zA-Z][\w-]*)(=.*)?$/s.exec(word);
  if (!match?.[1]) return word;
  const name = match[1].replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return shapes.has(name) ? `${name}${match[2] ?? ""}` : word;
}

/** Behind `-p` everything is the prompt but what is an option, or looks just like a mistyped one. */
export function isPrompt(word: string, shapes: { has(name: string): boolean }): boolean {
  if (!word.startsWith("-") || word === "-") return true;
  if (word === "--") return false;
  const name = kebab(word, shapes).replace(/=.*$/s, "");
  if (shapes.has(name)) return false;
  return !/^--?[a-zA-Z][\w-]*(=\S*)?$/.test(word);
}

/** Whether `--deterministic` is there, found by a first look alone, for the same reason. */
export function peekDeterministic(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? argv.length : end).includes("--deterministic");
}

/**
 * The output format, found by a first look alone: a command line that cannot be parsed must still be
 * answered in the format that it asks for.
 */
export function peekFormat(argv: readonly string[]): string | undefined {
  let format: string | undefined;
  for (const [index, word] of argv.entries()) {
    if (word === "--") break;
    if (word === "--json") format = "jsonl";
    const match = /^--output(?:-f|F)ormat(?:=(.*))?$/s.exec(word);
    if (match) format = match[1] ?? argv[index + 1];
  }
  return format;
}
