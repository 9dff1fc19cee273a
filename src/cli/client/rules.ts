import { PATH_TOOLS, splitRules } from "../../run/rules.ts";
import { isToolName, TOOL_NAMES, type ToolName } from "../../tools/registry.ts";

interface ClientRule {
  tool: string;
  /** What stands in the brackets; undefined where there are none. */
  pattern: string | undefined;
}

/**
 * Permission rules as Claude Code reads them, in our words: `//path` is absolute, `/path` and `path` lie in the working folder, `~`
 * is the home. What is about tools that are not here allows nothing.
 */
export function allowRules(lists: readonly string[], home: string | undefined): string {
  const rules = rulesOf(lists).flatMap((rule) => {
    if (!isToolName(rule.tool)) return [];
    const path = pathIn(rule);
    if (path === undefined) return [rule];
    return [{ ...rule, pattern: absolute(path, home) ?? inFolder(path) }];
  });
  return rules.map(textOf).join(",");
}

/**
 * The same for what is denied. In doubt more is: a tool is meant whatever the case of its name, `/path` absolute too, and a
 * name without a slash in every folder.
 */
export function denyRules(lists: readonly string[], home: string | undefined): string {
  const rules = rulesOf(lists).flatMap((rule) => {
    const tool = TOOL_NAMES.find((name) => name.toLowerCase() === rule.tool.toLowerCase());
    if (tool === undefined) return [];
    const path = pathIn({ ...rule, tool });
    if (path === undefined) return [{ ...rule, tool }];
    return deniedPaths(path, home).map((pattern) => ({ tool, pattern }));
  });
  return rules.map(textOf).join(",");
}

/** The names of ours among those to offer, and the others; undefined: all. */
export function toolNames(lists: readonly string[]): { names: ToolName[] | undefined; unknown: string[] } {
  const given = lists.flatMap((list) => list.split(/[\s,]+/)).filter((name) => name !== "");
  if (given.includes("default")) return { names: undefined, unknown: [] };
  return { names: given.filter(isToolName), unknown: given.filter((name) => !isToolName(name)) };
}

/** What is no rule at all stays as it is, for the one who reads rules to refuse. */
function rulesOf(lists: readonly string[]): ClientRule[] {
  return lists.flatMap(splitRules).map((text) => {
    const [, tool = text, pattern] = /^([^(]*)\((.*)\)$/s.exec(text) ?? [];
    return { tool, pattern };
  });
}

function textOf({ tool, pattern }: ClientRule): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}

function pathIn({ tool, pattern }: ClientRule): string | undefined {
  return PATH_TOOLS.includes(tool) ? pattern?.trim() : undefined;
}

function absolute(path: string, home: string | undefined): string | undefined {
  if (path.startsWith("//")) return path.slice(1);
  if (home !== undefined && /^~(\/|$)/.test(path)) return `${home}${path.slice(1)}`;
  return undefined;
}

function inFolder(path: string): string {
  return path.startsWith("/") ? `.${path}` : path;
}

function deniedPaths(path: string, home: string | undefined): string[] {
  const root = absolute(path, home);
  if (root !== undefined) return [root];
  if (path.startsWith("/")) return [path, inFolder(path)];
  return path.includes("/") ? [path] : [path, `**/${path}`];
}
