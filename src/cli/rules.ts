import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Rule, RuleMatch } from "../agent/rules.ts";
import { AgentError } from "../protocol/errors.ts";
import { distance } from "./near-command.ts";

/** The tools whose rules are about paths, those of later versions too: scripts name them already. */
const PATH_TOOLS = ["Read", "Write", "Edit", "Glob", "Grep"];
const KNOWN_TOOLS = ["Bash", ...PATH_TOOLS];

/**
 * Reads a list of permission rules, separated by commas or spaces outside brackets. Path patterns are tied to
 * where they point: `..` and links are resolved now, so that a rule and a path mean the same place.
 * @param cwd the working folder, absolute with links resolved.
 * @throws AgentError `usage` naming the rule that cannot be read.
 */
export function parseRules(list: string, cwd: string): Rule[] {
  return splitOutsideBrackets(list).map((text) => parseRule(text, cwd));
}

function parseRule(text: string, cwd: string): Rule {
  const [, tool, pattern] = /^([A-Za-z][\w-]*)(?:\((.*)\))?$/s.exec(text) ?? [];
  if (tool === undefined) {
    throw ruleError(text, "write Tool or Tool(pattern), e.g. Read(src/**) or Bash(git log *)");
  }
  const meant = KNOWN_TOOLS.find(
    (known) => known !== tool && distance(known.toLowerCase(), tool.toLowerCase()) <= 1,
  );
  if (meant !== undefined && !KNOWN_TOOLS.includes(tool))
    throw ruleError(text, `there is no tool ${tool}; ${meant}?`);
  return { tool, match: pattern === undefined ? { kind: "all" } : matchOf(tool, pattern, text, cwd), text };
}

function matchOf(tool: string, pattern: string, text: string, cwd: string): RuleMatch {
  // `Bash(git log:*)` is how users of other agents write a prefix.
  const words = pattern.replace(/:\*$/, " *").trim().split(/\s+/);
  // Empty brackets come from unset variables, and must not mean everything.
  const isPrefixOfAll = words.join(" ") === "*" && pattern.trim() !== "*";
  if (words.join("") === "" || isPrefixOfAll) {
    throw ruleError(text, `the brackets are empty; ${tool} alone means every call`);
  }
  if (PATH_TOOLS.includes(tool)) return pathMatch(pattern.trim(), text, cwd);
  return words[0] === "*" && words.length === 1 ? { kind: "all" } : { kind: "command", words };
}

function pathMatch(pattern: string, text: string, cwd: string): RuleMatch {
  if (/[{}[\]]/.test(pattern) || pattern.startsWith("~")) {
    throw ruleError(text, "paths know the wildcards *, ** and ? only; write the folder of ~ out");
  }
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?]/.test(part));
  const literal = wild === -1 ? parts : parts.slice(0, wild);
  const globs = wild === -1 ? [] : parts.slice(wild).filter((part) => part !== "" && part !== ".");
  if (globs.includes("..")) throw ruleError(text, ".. cannot stand behind a wildcard");
  const start = pattern.startsWith("/") ? "/" : cwd;
  return {
    kind: "path",
    root: realAsFarAsItExists(resolve(start, ...literal.filter(Boolean))),
    glob: globs.join("/"),
  };
}

function realAsFarAsItExists(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path
      ? path
      : join(realAsFarAsItExists(parent), path.slice(parent.length).replace(/^\//, ""));
  }
}

function ruleError(text: string, why: string): AgentError {
  return new AgentError("usage", `cannot use the rule "${text}": ${why}`);
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
