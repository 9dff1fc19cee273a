/** How a glob is applied: by ripgrep, or by us to the paths that it prints. */
export interface GlobFilter {
  /** Options for ripgrep. */
  args: readonly string[];
  /** Whether a path, relative to the folder that is searched, fits. */
  fits(path: string): boolean;
}

/**
 * Patterns as in .gitignore: without a slash they fit at any depth, with one they count from the folder that
 * is searched; `*` and `?` stay inside a folder, `**` crosses them; `[a-z]`, `{a,b}`; `!` in front turns one around.
 *
 * ripgrep takes a folder that fits a pattern for wanted even where .gitignore names it, so `**` would lead
 * into node_modules. Patterns whose last part could be any folder are therefore applied here.
 *
 * @throws an error if brackets are left open.
 */
export function globFilter(pattern: string): GlobFilter {
  const last = pattern.replace(/\/+$/, "/**").split("/").at(-1) ?? "";
  if (pattern.startsWith("!") || /[^*?.[\]{},\\]/.test(last)) {
    return { args: [`--glob=${pattern}`], fits: () => true };
  }
  const regExp = toRegExp(pattern);
  return { args: [], fits: (path) => regExp.test(path) };
}

const TOKEN = /\/\*\*$|(?<=^|\/)(?:\*\*\/)+|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|[{},]|[^]/g;

function toRegExp(pattern: string): RegExp {
  const text = pattern.replace(/\/+$/, "/**");
  let depth = 0;
  const source = text.replace(/^\//, "").replaceAll(TOKEN, (token) => {
    if (token === "{") depth += 1;
    if (token === "}") depth -= 1;
    return sourceOf(token, depth);
  });
  if (depth !== 0) throw new Error(`the pattern ${pattern} has an open brace`);
  return new RegExp(`^${text.includes("/") ? "" : "(?:.*/)?"}${source}$`, "su");
}

function sourceOf(token: string, depth: number): string {
  if (token === "/**") return "/.*";
  if (token.startsWith("**/")) return "(?:.*/)?";
  if (token.startsWith("*")) return "[^/]*";
  if (token === "?") return "[^/]";
  if (token === "{") return "(?:";
  if (token === "}") return ")";
  if (token === "," && depth > 0) return "|";
  if (token.length > 2 && token.startsWith("[")) return classOf(token.slice(1, -1));
  if (token.length === 2 && token.startsWith("\\")) return escaped(token.slice(1));
  if (token === "[") throw new Error("the pattern has an open bracket");
  return escaped(token);
}

function classOf(inside: string): string {
  const negated = /^[!^]/.test(inside);
  const members = (negated ? inside.slice(1) : inside).replaceAll(/[\\\]^[&|~]/g, String.raw`\$&`);
  return `(?!/)[${negated ? "^" : ""}${members}]`;
}

function escaped(character: string): string {
  return character.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}

/** Takes the folders without wildcards off a pattern that is absolute or leads out: `/a/b/*.ts` is `*.ts` in `/a/b`. */
export function splitGlob(pattern: string): { folder: string | null; pattern: string } {
  if (!/^(?:\/|\.\.?\/)/.test(pattern)) return { folder: null, pattern };
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?[{\\]/.test(part));
  const cut = wild === -1 ? parts.length - 1 : wild;
  return { folder: parts.slice(0, cut).join("/") || "/", pattern: `/${parts.slice(cut).join("/")}` };
}
