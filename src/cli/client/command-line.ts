import { AgentError } from "../../protocol/errors.ts";
import type { TurnSettings } from "../../emit/formats/stream-json.ts";
import { isPrompt, kebab, PROMPT_NAMES, type OptionShape } from "../argv.ts";
import { CLIENT_FLAGS, setMode, type ClientFlag } from "./flags.ts";
import { RESTRICTING } from "./settings.ts";

/** A command line for Claude-style stream-json, in the words of linefeed's own. */
export interface ClientCommandLine {
  argv: string[];
  /** What was left out and why, a line each, for stderr. */
  warnings: string[];
  /** What the first line of each turn is to say, where our own words say less. */
  settings: TurnSettings;
}

/** What the handlers of flags add to. */
export interface Draft extends ClientCommandLine {
  /** Where `~` is, if that is known. */
  home: string | undefined;
  /** What counts where no flag says otherwise. */
  defaults: { "--model"?: string; "--permission-mode"?: string };
}

/**
 * Reads a command line as the programs write it that speak stream-json: `--flag value` and `--flag=value`, flags of which we
 * never heard, empty values, stray empty arguments. What is unknown is left out with a warning, unless it restricts the run.
 *
 * @param options linefeed's own.
 * @throws AgentError `usage` for what restricts a run, or is essential to it, and cannot be done.
 */
export function readClientCommandLine(
  argv: readonly string[],
  options: readonly OptionShape[],
  home: string | undefined,
): ClientCommandLine {
  return new ClientArgv(argv, options, home).read();
}

class ClientArgv {
  readonly #words: readonly string[];
  readonly #own: ReadonlyMap<string, OptionShape>;
  readonly #draft: Draft;
  /** Whether a word that follows a flag cannot be the prompt, since that is elsewhere. */
  readonly #hasPrompt: boolean;
  #at = 0;

  constructor(argv: readonly string[], options: readonly OptionShape[], home: string | undefined) {
    const end = argv.indexOf("--");
    this.#words = argv;
    this.#own = new Map(options.flatMap((option) => option.names.map((name) => [name, option] as const)));
    this.#draft = { argv: [], warnings: [], settings: {}, home, defaults: {} };
    this.#hasPrompt = end >= 0 || hasPrompt(argv);
  }

  read(): ClientCommandLine {
    const { argv, warnings, settings } = this.#draft;
    while (this.#at < this.#words.length && this.#words[this.#at] !== "--") {
      const word = this.#next();
      if (word.startsWith("-") && word !== "-") this.#flag(word);
      else if (word !== "") argv.push(word);
    }
    this.#fillIn();
    argv.push(...this.#words.slice(this.#at));
    // The one word for it that init knows says more than the mode that was asked for beside it.
    if (argv.includes("--dangerously-skip-permissions")) delete settings.permissionMode;
    return { argv, warnings, settings };
  }

  #fillIn(): void {
    const { argv, defaults } = this.#draft;
    const isGiven = (option: string) => argv.some((word) => word.startsWith(`${option}=`));
    const { "--model": model, "--permission-mode": mode } = defaults;
    if (model !== undefined && !isGiven("--model")) argv.unshift(`--model=${model}`);
    if (mode !== undefined && !isGiven("--permission-mode")) setMode(this.#draft, mode);
  }

  #next(): string {
    return this.#words[this.#at++] ?? "";
  }

  #flag(word: string): void {
    const { argv, warnings } = this.#draft;
    const [, written = word, tied] = /^(--?[^=]+)=(.*)$/s.exec(word) ?? [];
    const isKnown = (name: string) => Object.hasOwn(CLIENT_FLAGS, name) || this.#own.has(name);
    const name = kebab(written, { has: isKnown });
    const flag = Object.hasOwn(CLIENT_FLAGS, name) ? CLIENT_FLAGS[name] : undefined;
    const own = this.#own.get(name);
    if (flag) this.#clientFlag(name, flag, tied);
    else if (PROMPT_NAMES.includes(name)) argv.push(word, ...this.#promptBehind(tied));
    else if (own) argv.push(...this.#ownFlag(name, own, tied));
    else {
      if (RESTRICTING.test(name)) {
        throw new AgentError("usage", `${written} may restrict the run and is not known here; leave it out`);
      }
      if (tied === undefined) this.#skipValue();
      warnings.push(`${written} is not known here and was ignored`);
    }
  }

  #clientFlag(name: string, flag: ClientFlag, tied: string | undefined): void {
    const values: string[] = tied === undefined ? [] : [tied];
    if (tied === undefined && flag.values !== "none") {
      // A value that is asked for may begin with a dash, or be empty.
      if (flag.values !== "optional" && this.#at < this.#words.length) values.push(this.#next());
      else if (this.#wordFollows) values.push(this.#next());
      while (flag.values === "many" && this.#hasPrompt && this.#wordFollows) values.push(this.#next());
    }
    flag.read(this.#draft, values, name);
  }

  /** Tied to its option a value may begin with a dash. */
  #ownFlag(name: string, { takesValue }: OptionShape, tied: string | undefined): string[] {
    const isLong = name.startsWith("--");
    const given = tied ?? (takesValue && this.#at < this.#words.length ? this.#next() : undefined);
    if (given === undefined) return [name];
    return isLong ? [`${name}=${given}`] : [name, given];
  }

  #promptBehind(tied: string | undefined): string[] {
    const next = this.#words[this.#at];
    return tied === undefined && next !== undefined && isPrompt(next, this.#own) ? [this.#next()] : [];
  }

  /** A plain word comes next, and it is not empty. */
  get #wordFollows(): boolean {
    const next = this.#words[this.#at];
    return next !== undefined && next !== "" && isPlain(next);
  }

  /** Behind a flag that nobody knows a word is its value, unless the run would then have no prompt. */
  #skipValue(): void {
    const isPrompt = !this.#hasPrompt && !this.#words.slice(this.#at + 1).some((word) => isPlain(word));
    if (this.#wordFollows && !isPrompt) this.#next();
  }
}

function isPlain(word: string): boolean {
  return !word.startsWith("-") || word === "-";
}

/** Whether the prompt stands behind `-p`, or comes as lines on stdin. */
function hasPrompt(argv: readonly string[]): boolean {
  return argv.some((word, index) => {
    const next = argv[index + 1];
    if (/^--input-?format=stream-json$/i.test(word)) return true;
    if (/^--input-?format$/i.test(word)) return next === "stream-json";
    if (/^(?:-p|--print|--prompt)=/.test(word)) return true;
    return PROMPT_NAMES.includes(word) && next !== undefined && next !== "" && isPlain(next);
  });
}
