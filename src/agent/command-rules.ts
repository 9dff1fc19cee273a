import { notAProgram, sourceOf, understand, type SimpleCommand } from "./shell-commands.ts";
import { NotUnderstood, tokenize, type Word } from "./shell-words.ts";

/** What a rule says of one simple command. */
export interface CommandPattern {
  words: readonly [PatternWord, ...PatternWord[]];
  /** Whether any further words may follow: the pattern ended in ` *`. */
  open: boolean;
}

export interface PatternWord {
  /** As written in the rule. */
  source: string;
  /** What it is without its quotes. */
  text: string;
  /** Whether it holds an unquoted `*` or `?`, for any characters or one. */
  isWild: boolean;
  matches: RegExp;
  /** Matches the program that it names, whatever folder it is called from and in whatever case. */
  matchesName: RegExp;
}

/**
 * Reads the words of a rule as the shell would read them: `git commit -m 'two words'`. Outside quotes `*` stands
 * for any characters and `?` for one; a last word `*` for any number of words.
 * @throws NotUnderstood if no command could be meant.
 */
export function commandPattern(source: string): CommandPattern {
  const all = tokenize(source).map((token) => {
    if (token.kind === "word") return token.word;
    throw new NotUnderstood("a rule covers one simple command; write a rule for each, without redirections");
  });
  const open = all.length > 1 && all.at(-1)?.source === "*";
  const [program, ...rest] = open ? all.slice(0, -1) : all;
  if (!program) throw new NotUnderstood("there is no command in it");
  const why = program.wild.length > 0 ? undefined : notAProgram(program);
  if (why !== undefined) throw new NotUnderstood(why);
  return { words: [patternWord(program), ...rest.map(patternWord)], open };
}

function patternWord({ text, source, wild }: Word): PatternWord {
  const stars = wild.filter((index) => text[index] !== "[");
  const piece = (character: string, index: number) => {
    if (stars.includes(index)) return character === "*" ? "[^]*" : "[^]";
    return character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
  };
  // Not by code points: the places of wildcards are counted in code units.
  const pieces = text.split("").map(piece);
  const name = pieces.slice(text.lastIndexOf("/") + 1);
  return {
    source,
    text,
    isWild: stars.length > 0,
    matches: new RegExp(`^${pieces.join("")}$`),
    matchesName: new RegExp(`^${name.join("")}$`, "i"),
  };
}

/** What keeps a command from being covered: it is not understood, or one of its simple commands is not covered. */
export type Gap = { kind: "not_understood"; why: string } | UncoveredPart;

interface UncoveredPart {
  kind: "uncovered";
  command: SimpleCommand;
  /** Which of how many, from 1. */
  part: number;
  parts: number;
}

/** The first simple command that none of the patterns covers; undefined if all are covered. */
export function findGap(patterns: readonly CommandPattern[], command: string): Gap | undefined {
  const understood = understand(command);
  if ("why" in understood) return { kind: "not_understood", why: understood.why };
  const { commands } = understood;
  const index = commands.findIndex((one) => !patterns.some((pattern) => covers(pattern, one)));
  const uncovered = commands[index];
  return uncovered && { kind: "uncovered", command: uncovered, part: index + 1, parts: commands.length };
}

function covers({ words: pattern, open }: CommandPattern, { words }: SimpleCommand): boolean {
  if (words.length < pattern.length || (!open && words.length > pattern.length)) return false;
  return pattern.every(({ source, matches }, index) => {
    const word = words[index];
    if (!word) return false;
    // What a wildcard becomes is not known; but the rule may name it as it stands.
    return word.wild.length > 0 ? word.source === source : matches.test(word.text);
  });
}

/** The rule that would cover a simple command as it stands; undefined if it takes more than copying. */
export function ruleFor(tool: string, command: SimpleCommand): string | undefined {
  const source = sourceOf(command);
  // In a rule `:*` at the end means something else.
  return source.endsWith(":*") ? undefined : `${tool}(${source})`;
}

/** Programs and shell words that run the rest of their line, or of their input: what they run is not seen. */
const RUNNERS = new Set(
  (
    "time exec command builtin eval source . trap alias hash enable coproc " +
    "env nohup nice ionice setsid stdbuf timeout sudo doas su pkexec runuser chroot unshare nsenter setpriv taskset chrt " +
    "prlimit systemd-run watch strace ltrace flock script xargs find parallel " +
    "sh bash rbash dash ash zsh ksh mksh fish csh tcsh busybox toybox"
  ).split(" "),
);

/** Why a denying rule must stop a command: it is covered, or may hide one that is. */
export type Hit = { kind: "covers"; command: SimpleCommand } | { kind: "may_hide"; why: string };

/**
 * What a denying rule finds in a command: a simple command that it covers, by whatever path and in whatever case
 * its program is called; or that the command is not understood, or runs another one, and so may hide what the
 * rule denies. Undefined if there is nothing of it.
 */
export function findHit(pattern: CommandPattern, command: string): Hit | undefined {
  const understood = understand(command);
  if ("why" in understood) return { kind: "may_hide", why: understood.why };
  const covered = understood.commands.find(({ words }) => mayBe(pattern, words));
  if (covered) return { kind: "covers", command: covered };
  const runner = understood.commands.find(({ words }) => RUNNERS.has(nameOf(words[0].text)));
  return runner && { kind: "may_hide", why: `${nameOf(runner.words[0].text)} runs other programs` };
}

/** The name of a program without its folder, in small letters. */
export function nameOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase();
}

function mayBe({ words: pattern, open }: CommandPattern, words: readonly [Word, ...Word[]]): boolean {
  const [{ matches, matchesName }, ...fixed] = pattern;
  const [{ text }, ...rest] = words;
  if (!matches.test(text) && !matchesName.test(nameOf(text))) return false;
  for (const [index, expected] of fixed.entries()) {
    const word = rest[index];
    if (!word) return false;
    // It may become anything, any number of words.
    if (word.wild.length > 0) return true;
    if (!expected.matches.test(word.text)) return false;
  }
  return open || rest.slice(fixed.length).every(({ wild }) => wild.length > 0);
}
