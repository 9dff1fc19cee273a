import { foldName } from "../tools/paths.ts";
import type { CommandPattern } from "./command-rules.ts";

/** What a permission rule covers. */
export type RuleMatch =
  | { kind: "all" }
  | { kind: "command"; pattern: CommandPattern }
  /** What lies under `root` (absolute, links resolved) and fits `glob`; with an empty one all of it. */
  | { kind: "path"; root: string; glob: string }
  /** A pattern of a tool that is not ours: it allows nothing, and denies every call. */
  | { kind: "other" };

/** A permission rule: `Bash`, `Bash(git log *)`, `Read(src/**)`. */
export interface Rule {
  tool: string;
  match: RuleMatch;
  /** As the user wrote it. */
  text: string;
}

/** Whether a path rule covers an absolute path. A folder that is named covers what is in it. */
export function coversPath({ root, glob }: { root: string; glob: string }, path: string): boolean {
  const prefix = root.endsWith("/") ? root : `${root}/`;
  if (path !== root && !path.startsWith(prefix)) return false;
  if (glob === "") return true;
  const rest = path.slice(prefix.length);
  return globToRegExp(glob).test(rest);
}

/** The same for a denying rule: names that some file system takes for the same are the same. */
export function mayCoverPath({ root, glob }: { root: string; glob: string }, path: string): boolean {
  return coversPath({ root: foldName(root), glob: foldName(glob) }, foldName(path));
}

/** `*` and `?` stay inside one path part, `**` crosses them. */
function globToRegExp(glob: string): RegExp {
  const source = glob.replace(/\*\*\/?|\*|\?|[.+^${}()|[\]\\]/g, (token) => {
    if (token === "**/") return "(?:.*/)?";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    return `\\${token}`;
  });
  const last = glob.slice(glob.lastIndexOf("/") + 1);
  const contents = /[*?]/.test(last) ? "" : "(?:/.*)?";
  return new RegExp(`^${source}${contents}$`, "s");
}
