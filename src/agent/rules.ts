import { AgentError } from "../protocol/errors.ts";

/** A permission rule: `Bash`, `Bash(git log *)`, `Read(src/**)`. */
export interface Rule {
  tool: string;
  /** Undefined: every call of the tool. */
  pattern: string | undefined;
  /** As the user wrote it. */
  text: string;
}

/**
 * Reads a list of rules, separated by commas or spaces outside brackets.
 * @throws AgentError `usage` naming the rule that cannot be read.
 */
export function parseRules(list: string): Rule[] {
  return splitOutsideBrackets(list).map(parseRule);
}

function parseRule(text: string): Rule {
  const match = /^([A-Za-z][\w-]*)(?:\((.*)\))?$/s.exec(text);
  if (!match?.[1]) {
    throw new AgentError(
      "usage",
      `cannot read the rule "${text}": write Tool or Tool(pattern), e.g. Read(src/**) or Bash(git log *)`,
    );
  }
  // `Bash(git log:*)` is how users of other agents write a prefix.
  const pattern = match[2]?.replace(/:\*$/, " *").trim();
  return { tool: match[1], pattern: pattern === "" || pattern === "*" ? undefined : pattern, text };
}

function splitOutsideBrackets(list: string): string[] {
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  for (const character of list) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth <= 0 && /[\s,]/.test(character)) {
      if (part !== "") parts.push(part);
      part = "";
    } else {
      part += character;
    }
  }
  if (part !== "") parts.push(part);
  return parts;
}

/**
 * Whether a Bash rule covers a command. Only one simple command of plain or quoted words is understood;
 * anything that a shell would treat specially is not, and so is never covered.
 */
export function coversCommand(pattern: string, command: string): boolean {
  const words = simpleCommandWords(command);
  if (!words) return false;
  const patternWords = pattern.split(/\s+/);
  const open = patternWords.at(-1) === "*";
  const fixed = open ? patternWords.slice(0, -1) : patternWords;
  if (words.length < fixed.length || (!open && words.length > fixed.length)) return false;
  return fixed.every((word, index) => globToRegExp(word, "word").test(words[index] ?? ""));
}

const WORD = /\s*(?:([\w@%+:,./=-]+)|'([^'\n]*)'|"([^"$`\\!\n]*)")(?=\s|$)/y;

/** The words of one simple command, or undefined if the command is anything else. */
export function simpleCommandWords(command: string): string[] | undefined {
  const words: string[] = [];
  const text = command.trim();
  if (/[\r\n]/.test(text)) return undefined;
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    const match = WORD.exec(text);
    if (!match) return undefined;
    words.push(match[1] ?? match[2] ?? match[3] ?? "");
  }
  const [program] = words;
  if (program === undefined || program.includes("=")) return undefined;
  return words;
}

/** Whether a path rule covers a path; a relative pattern counts from the working folder. */
export function coversPath(pattern: string, path: string, cwd: string): boolean {
  const absolute = pattern.startsWith("/") ? pattern : `${cwd}/${pattern.replace(/^\.\//, "")}`;
  return globToRegExp(absolute, "path").test(path);
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
  return new RegExp(`^${source}$`, "s");
}
