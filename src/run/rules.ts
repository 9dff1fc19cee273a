import { resolve } from "node:path";
import { broadRuleNotices } from "../agent/broad-rules.ts";
import { commandPattern } from "../agent/command-rules.ts";
import type { Rule, RuleMatch } from "../agent/rules.ts";
import { NotUnderstood } from "../agent/shell-words.ts";
import { AgentError } from "../protocol/errors.ts";
import { realAsFarAsItExists } from "./folders.ts";
import type { RunOptions } from "./options.ts";
import { wordDistance } from "./word-distance.ts";

/** The tools whose rules are about paths, those of later versions too: scripts name them already. */
export const PATH_TOOLS = ["Read", "Write", "Edit", "Glob", "Grep"];
const KNOWN_TOOLS = ["Bash", ...PATH_TOOLS];

/**
 * Reads a list of permission rules, separated by commas or spaces outside brackets. Path patterns are tied to
 * where they point: `..` and links are resolved now, so that a rule and a path mean the same place.
 * @param cwd the working folder, absolute with links resolved.
 * @param ownTools names of tools that are not ours.
 * @throws AgentError `usage` naming the rule that cannot be read.
 */
export function parseRules(list: string, cwd: string, ownTools: readonly string[] = []): Rule[] {
  return splitRules(list).map((text) => parseRule(text, cwd, ownTools));
}

/** Reads one rule. @throws AgentError `usage` if it cannot be read. */
export function parseRule(text: string, cwd: string, ownTools: readonly string[] = []): Rule {
  const [, tool, pattern] = /^([A-Za-z][\w-]*)(?:\((.*)\))?$/s.exec(text) ?? [];
  if (tool === undefined) {
    throw ruleError(text, "write Tool or Tool(pattern), e.g. Read(src/**) or Bash(git log *)");
  }
  const meant = KNOWN_TOOLS.find(
    (known) => known !== tool && wordDistance(known.toLowerCase(), tool.toLowerCase()) <= 1,
  );
  if (meant !== undefined && ![...KNOWN_TOOLS, ...ownTools].includes(tool))
    throw ruleError(text, `there is no tool ${tool}; ${meant}?`);
  return { tool, match: pattern === undefined ? { kind: "all" } : matchOf(tool, pattern, text, cwd), text };
}

function matchOf(tool: string, pattern: string, text: string, cwd: string): RuleMatch {
  // Empty brackets come from unset variables, and must not mean everything.
  if (/^\s*(?::\*)?\s*$/.test(pattern)) {
    throw ruleError(text, `the brackets are empty; ${tool} alone means every call`);
  }
  if (PATH_TOOLS.includes(tool)) return pathMatch(pattern.trim(), text, cwd);
  if (tool !== "Bash") return { kind: "other" };
  return pattern.trim() === "*" ? { kind: "all" } : commandMatch(pattern, text);
}

function commandMatch(pattern: string, text: string): RuleMatch {
  try {
    // `Bash(git log:*)` is how users of other agents write a prefix.
    return { kind: "command", pattern: commandPattern(pattern.replace(/:\*$/, " *")) };
  } catch (error) {
    if (error instanceof NotUnderstood) throw ruleError(text, error.message);
    throw error;
  }
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

/** Where rules decide about commands at all, those that decide little. */
export function ruleNotices({
  permissionMode,
  tools,
  allow,
}: Pick<RunOptions, "permissionMode" | "tools" | "allow">): RunOptions["notices"] {
  const decide = permissionMode === "default" || permissionMode === "accept-edits";
  return decide && tools.includes("Bash") ? broadRuleNotices(allow) : [];
}

function ruleError(text: string, why: string): AgentError {
  return new AgentError("usage", `cannot use the rule "${text}": ${why}`);
}

/** In the brackets of a command, quotes are those of the shell; in those of a path they are part of it. */
const COMMAND_PIECE = /\\.|'[^']*'|"(?:\\.|[^"\\])*"|./gsu;

/** The rules of a list, as they are written. */
export function splitRules(list: string): string[] {
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  let at = 0;
  while (at < list.length) {
    const isCommand = depth > 0 && part.startsWith("Bash(");
    COMMAND_PIECE.lastIndex = at;
    const piece = (isCommand && COMMAND_PIECE.exec(list)?.[0]) || list.charAt(at);
    at += piece.length;
    if (piece === "(") depth += 1;
    if (piece === ")") depth -= 1;
    if (depth <= 0 && /^[\s,]$/.test(piece)) {
      if (part !== "") parts.push(part);
      part = "";
    } else {
      part += piece;
    }
  }
  if (part !== "") parts.push(part);
  return parts;
}
