/** What a permission rule covers. */
export type RuleMatch =
  | { kind: "all" }
  /** A Bash command: words, of which `*` stands for anything, the last one for any number of words. */
  | { kind: "command"; words: readonly string[] }
  /** What lies under `root` (absolute, links resolved) and fits `glob`; with an empty one all of it. */
  | { kind: "path"; root: string; glob: string };

/** A permission rule: `Bash`, `Bash(git log *)`, `Read(src/**)`. */
export interface Rule {
  tool: string;
  match: RuleMatch;
  /** As the user wrote it. */
  text: string;
}

/**
 * Whether a command rule covers a command. Only one simple command of plain or quoted words is understood;
 * anything that a shell would treat specially is not, and so is never covered.
 */
export function coversCommand(pattern: readonly string[], command: string): boolean {
  const words = simpleCommandWords(command);
  return words !== undefined && coversWords(pattern, words);
}

// Programs and shell words that run the rest of their line, or of their input: what they run is not seen.
const RUNNERS = new Set(
  (
    "time exec command builtin eval source . env nohup nice ionice setsid stdbuf timeout sudo doas su xargs find parallel " +
    "sh bash dash zsh ksh fish busybox"
  ).split(" "),
);

/**
 * Whether a denying rule must stop a command: it is covered, by whatever path its program is called; or it is
 * not understood, or runs another one, and so may hide what the rule denies.
 */
export function mayHideCommand(pattern: readonly string[], command: string): boolean {
  const [program, ...rest] = simpleCommandWords(command) ?? [];
  if (program === undefined) return true;
  const name = program.slice(program.lastIndexOf("/") + 1);
  return (
    RUNNERS.has(name) || coversWords(pattern, [program, ...rest]) || coversWords(pattern, [name, ...rest])
  );
}

function coversWords(pattern: readonly string[], words: readonly string[]): boolean {
  const open = pattern.at(-1) === "*";
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (words.length < fixed.length || (!open && words.length > fixed.length)) return false;
  return fixed.every((word, index) => globToRegExp(word, "word").test(words[index] ?? ""));
}

// Blanks are what a shell takes for blanks: to it a no-break space is part of a word.
const WORD = /[ \t]*(?:([\w@%+:,./=-]+)|'([^'\n]*)'|"([^"$`\\!\n]*)")(?=[ \t]|$)/y;

/** The words of one simple command, or undefined if the command is anything else. */
function simpleCommandWords(command: string): string[] | undefined {
  const words: string[] = [];
  const text = command.replace(/^[ \t]+|[ \t]+$/g, "");
  if (/[\r\n]/.test(text)) return undefined;
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    const match = WORD.exec(text);
    if (!match) return undefined;
    words.push(match[1] ?? match[2] ?? match[3] ?? "");
  }
  const [program] = words;
  return program === undefined || program === "" || program.includes("=") ? undefined : words;
}

/** Whether a path rule covers an absolute path. A folder that is named covers what is in it. */
export function coversPath({ root, glob }: { root: string; glob: string }, path: string): boolean {
  const prefix = root.endsWith("/") ? root : `${root}/`;
  if (path !== root && !path.startsWith(prefix)) return false;
  if (glob === "") return true;
  const rest = path.slice(prefix.length);
  return globToRegExp(glob, "path").test(rest);
}

/** `*` and `?` stay inside one path part, `**` crosses them; in a word `*` is anything. */
function globToRegExp(glob: string, kind: "path" | "word"): RegExp {
  const inside = kind === "path" ? "[^/]" : "[^]";
  const source = glob.replace(/\*\*\/?|\*|\?|[.+^${}()|[\]\\]/g, (token) => {
    if (token === "**/") return "(?:.*/)?";
    if (token === "**") return ".*";
    if (token === "*") return `${inside}*`;
    if (token === "?") return inside;
    return `\\${token}`;
  });
  const last = glob.slice(glob.lastIndexOf("/") + 1);
  const contents = kind === "path" && !/[*?]/.test(last) ? "(?:/.*)?" : "";
  return new RegExp(`^${source}${contents}$`, "s");
}
