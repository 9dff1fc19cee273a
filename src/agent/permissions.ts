import type { PermissionMode } from "../protocol/words.ts";
import type { Access } from "../tools/tool.ts";
import { isInside, isSecret } from "../tools/paths.ts";
import { coversCommand, coversPath, mayHideCommand, type Rule, type RuleMatch } from "./rules.ts";

export interface PermissionPolicy {
  mode: PermissionMode;
  allow: readonly Rule[];
  /** Wins over everything, `bypass` too. */
  deny: readonly Rule[];
  /** The working folder and every `--add-dir`, with links resolved. */
  roots: readonly string[];
}

export type Decision = { allowed: true } | { allowed: false; reason: string };

/** Whether a call may run. Pure; nobody is ever asked, what is not allowed is denied. */
export function decide(tool: string, access: Access, policy: PermissionPolicy): Decision {
  const denying = policy.deny.find((rule) => rule.tool === tool && denies(rule, access));
  if (denying) return { allowed: false, reason: `the rule ${denying.text} denies it (--disallowed-tools)` };
  if (policy.mode === "bypass") return { allowed: true };
  if (policy.mode === "plan" && access.kind !== "read") {
    return { allowed: false, reason: "the mode plan allows reading only; use another --permission-mode" };
  }
  if (policy.allow.some((rule) => rule.tool === tool && allows(rule, access))) return { allowed: true };
  return byMode(tool, access, policy);
}

function denies({ match }: Rule, access: Access): boolean {
  switch (match.kind) {
    case "all":
      return true;
    case "command":
      return access.kind === "execute" && mayHideCommand(match.words, access.command);
    case "path":
      return (
        access.kind !== "execute" && (coversPath(match, access.path) || coversPath(match, access.requested))
      );
    default:
      return match satisfies never;
  }
}

/** A file that may hold secrets is allowed only by a rule that names such a file: `Read(.env)`, not `Read(**)`. */
function allows({ match }: Rule, access: Access): boolean {
  if (access.kind !== "execute" && isSecret(access.path) && !namesSecrets(match)) return false;
  switch (match.kind) {
    case "all":
      return true;
    case "command":
      return access.kind === "execute" && coversCommand(match.words, access.command);
    case "path":
      return access.kind !== "execute" && coversPath(match, access.path);
    default:
      return match satisfies never;
  }
}

function namesSecrets(match: RuleMatch): boolean {
  return match.kind === "path" && isSecret(`${match.root}/${match.glob}`);
}

function byMode(tool: string, access: Access, policy: PermissionPolicy): Decision {
  if (access.kind === "execute") {
    return {
      allowed: false,
      reason: `no rule allows this command; allow it with --allowed-tools "${tool}(…)", or all with ${tool}`,
    };
  }
  if (isSecret(access.path)) {
    return {
      allowed: false,
      reason: `it may hold secrets; allow it by name with --allowed-tools "${tool}(${access.path})"`,
    };
  }
  if (!policy.roots.some((root) => isInside(access.path, root))) {
    return { allowed: false, reason: `it lies outside the working folder; add its folder with --add-dir` };
  }
  if (access.kind === "read" || policy.mode === "accept-edits") return { allowed: true };
  return {
    allowed: false,
    reason: `writing needs --permission-mode accept-edits or --allowed-tools ${tool}`,
  };
}
