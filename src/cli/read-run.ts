import { normalizeArgv, type OptionShape } from "./argv.ts";
import type { RunFlags } from "./flags.ts";
import { RUN_OPTIONS, type RunOption } from "./run-options.ts";
import { InvalidValue } from "./values.ts";

/** The flags of a command line, and its other words. */
export interface ReadRun {
  flags: RunFlags & { maxTurns?: number };
  positional: string[];
}

/** An option as reading needs it. */
interface Readable extends OptionShape {
  option: RunOption;
  /** Its key among the flags. */
  key: keyof RunFlags;
  value: "none" | "optional" | "required";
  /** Of an option that switches something off: `--no-deltas`. */
  negates: boolean;
}

const READABLE: readonly Readable[] = RUN_OPTIONS.map(readable);

const BY_NAME = new Map(READABLE.flatMap((one) => one.names.map((name) => [name, one] as const)));

/** What the scan of the command line needs to know of a run's options. */
export const RUN_SHAPES: readonly OptionShape[] = [
  ...READABLE,
  { names: ["-v", "--version"], takesValue: false },
  { names: ["-h", "--help"], takesValue: false },
];

/**
 * Reads the command line of a run in which all is plain. Undefined where it is not: options that are unknown, written together
 * or in conflict, values that are wrong, help. There commander has the word, which takes longer to load than all of this program.
 */
export function readRun(argv: readonly string[]): ReadRun | undefined {
  try {
    return new Reading(normalizeArgv(argv, RUN_SHAPES)).read();
  } catch (error) {
    if (error instanceof NotPlain || error instanceof InvalidValue) return undefined;
    throw error;
  }
}

class NotPlain extends Error {}

class Reading {
  readonly #words: readonly string[];
  readonly #flags = new Map<keyof RunFlags, unknown>();
  #at = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
    for (const { option, key, negates } of READABLE) {
      if (negates) this.#flags.set(key, true);
      else if (option.preset !== undefined) this.#flags.set(key, option.preset);
    }
  }

  read(): ReadRun {
    const given = new Set<keyof RunFlags>();
    const positional: string[] = [];
    while (this.#at < this.#words.length) {
      const word = this.#next();
      if (word === "--") positional.push(...this.#words.slice(this.#at));
      if (word === "--") break;
      if (word.startsWith("-") && word !== "-") given.add(this.#option(word));
      else positional.push(word);
    }
    for (const { option, key } of READABLE) {
      if (!given.has(key)) continue;
      if (option.conflicts && given.has(option.conflicts)) throw new NotPlain();
    }
    // Sound as far as the table and the type of the flags agree; the same holds of what commander hands over.
    return { flags: Object.fromEntries(this.#flags) as unknown as ReadRun["flags"], positional };
  }

  #next(): string {
    const word = this.#words[this.#at];
    if (word === undefined) throw new NotPlain();
    this.#at += 1;
    return word;
  }

  /** Reads an option and its value; returns its key. */
  #option(word: string): keyof RunFlags {
    const [, name = "", tied] = /^(--[^=]+|-.)(?:=(.*))?$/s.exec(word) ?? [];
    const found = BY_NAME.get(name);
    // A short option with an equals sign has that in its value.
    if (!found || (tied !== undefined && (found.value === "none" || !name.startsWith("--"))))
      throw new NotPlain();
    const { key, negates, option } = found;
    const text = tied ?? this.#valueOf(found);
    if (text === undefined) this.#flags.set(key, !negates);
    else this.#flags.set(key, option.parse ? option.parse(text, this.#flags.get(key)) : text);
    return key;
  }

  #valueOf({ value }: Readable): string | undefined {
    switch (value) {
      case "none":
        return undefined;
      case "required":
        return this.#next();
      case "optional":
        return /^(?:[^-]|-?$)/.test(this.#words[this.#at] ?? "--") ? this.#next() : undefined;
      default:
        return value satisfies never;
    }
  }
}

function readable(option: RunOption): Readable {
  const names = option.flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
  const long = names.at(-1) ?? "";
  const negates = long.startsWith("--no-");
  const value = /<.+>$/.test(option.flags) ? "required" : option.flags.endsWith("]") ? "optional" : "none";
  return { option, names, key: keyOf(long), value, negates, takesValue: value === "required" };
}

/** `--max-steps`: `maxSteps`; `--no-deltas`: `deltas`, as commander has it. */
function keyOf(long: string): keyof RunFlags {
  const name = long.replace(/^--(no-)?/, "");
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof RunFlags;
}
