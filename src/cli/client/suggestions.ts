import type { PermissionQuestion } from "../../agent/ask.ts";

/** What a client may offer its user beside yes and no: the changes with which such calls would not be asked about again. */
export function suggestionsFor({ access, rule }: PermissionQuestion): Record<string, unknown>[] {
  const destination = "session";
  if (rule === undefined) return [];
  if (access.kind === "write") return [{ type: "setMode", mode: "acceptEdits", destination }];
  const [, toolName = rule, ruleContent] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  const rules = [ruleContent === undefined ? { toolName } : { toolName, ruleContent }];
  return [{ type: "addRules", rules, behavior: "allow", destination }];
}
