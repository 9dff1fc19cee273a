import type { PermissionMode } from "../protocol/words.ts";
import type { Access } from "../tools/tool.ts";
import { foldName, givesOrders, isInside, isSecret } from "../tools/paths.ts";
import { findGap, findHit, ruleFor, type Gap } from "./command-rules.ts";
import { coversPath, mayCoverPath, type Rule, type RuleMatch } from "./rules.ts";
import { sourceOf } from "./shell-commands.ts";

export interface PermissionPolicy {
  mode: PermissionMode;
  allow: readonly Rule[];
  /** Wins over everything, `bypass` too. */
  deny: readonly Rule[];
  /** The working folder and every `--add-dir`, with links resolved. */
  roots: readonly string[];
  /** Folders whose files count as secret whatever their names, with links resolved: linefeed's own state. */
  secretFolders: readonly string[];
}

export type Decision =
  | { allowed: true }
  | {
      allowed: false;
      reason: string;
      /** Whether somebody may still allow it: not against a denying rule, nor against the mode `plan`. */
      mayAsk: boolean;
      /** The rule that would allow it, where one is sure to. */
      rule?: string | undefined;
    };

type FileAccess = Extract<Access, { kind: "read" | "write" }>;

/** How much of a command a reason names, in UTF-16 code units. */
const NAMED_UNITS = 200;

/** Whether a call may run. Pure; nobody is asked in here, what is not allowed is denied. */
export function decide(tool: string, access: Access, policy: PermissionPolicy): Decision {
  const denying = policy.deny.find((rule) => denies(rule, tool, access));
  if (denying) return { allowed: false, reason: denialBy(denying, access), mayAsk: false };
  if (policy.mode === "bypass") return { allowed: true };
  if (policy.mode === "plan" && !readsOnly(access)) {
    const reason = "the mode plan allows reading only; use another --permission-mode";
    return { allowed: false, reason, mayAsk: false };
  }
  switch (access.kind) {
    case "execute":
      return decideCommand(tool, access.command, policy);
    case "read":
    case "write":
      return decideFile(tool, access, policy);
    case "own":
      // Whoever wrote the tool has put it there to be called.
      return { allowed: true };
    default:
      return access satisfies never;
  }
}

function readsOnly(access: Access): boolean {
  return access.kind === "own" ? access.readOnly : access.kind === "read";
}

/** A denied path is denied to every tool that could do the same to it; a denied tool is only itself. */
function denies({ tool: named, match }: Rule, tool: string, access: Access): boolean {
  switch (match.kind) {
    case "all":
    case "other":
      return named === tool;
    case "command":
      return (
        named === tool && access.kind === "execute" && findHit(match.pattern, access.command) !== undefined
      );
    case "path":
      return (
        isFileAccess(access) &&
        (named === tool || concerns(named, access.kind)) &&
        (mayCoverPath(match, access.path) || mayCoverPath(match, access.requested))
      );
    default:
      return match satisfies never;
  }
}

function isFileAccess(access: Access): access is FileAccess {
  return access.kind === "read" || access.kind === "write";
}

function concerns(tool: string, kind: FileAccess["kind"]): boolean {
  return kind === "read" ? tool === "Read" : tool === "Write" || tool === "Edit";
}

function denialBy({ text, match }: Rule, access: Access): string {
  const rule = `the rule ${text} of --disallowed-tools`;
  const hit =
    match.kind === "command" && access.kind === "execute"
      ? findHit(match.pattern, access.command)
      : undefined;
  if (access.kind !== "execute" || hit === undefined) return `${rule} denies it`;
  if (hit.kind === "covers") return `${rule} denies the command ${named(sourceOf(hit.command))}`;
  return `${rule} denies what this command may hide, since ${hit.why}. The command: ${named(access.command)}`;
}

function decideCommand(tool: string, command: string, { allow }: PermissionPolicy): Decision {
  const matches = allow.filter((rule) => rule.tool === tool).map(({ match }) => match);
  if (matches.some(({ kind }) => kind === "all")) return { allowed: true };
  const patterns = matches.flatMap((match) => (match.kind === "command" ? [match.pattern] : []));
  const gap = findGap(patterns, command);
  if (gap === undefined) return { allowed: true };
  // A rule for one of several commands would not do for all of them.
  const rule = gap.kind === "uncovered" && gap.parts === 1 ? ruleFor(tool, gap.command) : undefined;
  return { allowed: false, reason: reasonOf(gap, tool, command), mayAsk: true, rule };
}

function reasonOf(gap: Gap, tool: string, command: string): string {
  if (gap.kind === "not_understood") {
    return (
      `a rule ${tool}(…) cannot cover this command, since ${gap.why}; use simple commands of literal words, joined by ` +
      `&&, ||, ; or |, or allow every command with --allowed-tools ${tool}. The command: ${named(command)}`
    );
  }
  const source = sourceOf(gap.command);
  const part = gap.parts > 1 ? ` (command ${gap.part} of ${gap.parts} in it)` : "";
  const rule = source.length > NAMED_UNITS ? undefined : ruleFor(tool, gap.command);
  const cure = rule ?? `such as ${tool}(${named(gap.command.words[0].source)} *)`;
  return `no rule allows the command ${named(source)}${part}; allow it with the rule ${cure} in --allowed-tools, or every command with ${tool}`;
}

function named(text: string): string {
  return text.length > NAMED_UNITS ? `${text.slice(0, NAMED_UNITS).toWellFormed()}…` : text;
}

function decideFile(tool: string, access: FileAccess, policy: PermissionPolicy): Decision {
  const { allow, mode, roots } = policy;
  const guarded = guardOf(access, policy);
  if (allow.some((rule) => rule.tool === tool && allowsFile(rule.match, access, policy))) {
    return { allowed: true };
  }
  if (guarded !== undefined) {
    const reason = `${guarded}; allow it by name with --allowed-tools "${tool}(${access.path})"`;
    return { allowed: false, reason, mayAsk: true };
  }
  if (!roots.some((root) => isInside(access.path, root))) {
    const reason = "it lies outside the working folder; add its folder with --add-dir";
    return { allowed: false, reason, mayAsk: true };
  }
  if (access.kind === "read" || mode === "accept-edits") return { allowed: true };
  const reason = `writing needs --permission-mode accept-edits or --allowed-tools ${tool}`;
  return { allowed: false, reason, mayAsk: true, rule: tool };
}

/** A guarded file is allowed only by a rule that names such a file: `Read(.env)`, not `Read(**)`. */
function allowsFile(match: RuleMatch, access: FileAccess, policy: PermissionPolicy): boolean {
  if (match.kind === "all") return guardOf(access, policy) === undefined;
  if (match.kind !== "path" || !coversPath(match, access.path)) return false;
  const meant: FileAccess = { ...access, path: `${match.root}/${match.glob}` };
  return sensitivity(access, policy).every((kind) => sensitivity(meant, policy).includes(kind));
}

type Sensitivity = "secret" | "orders" | "state";

/** What makes a file one that takes a rule of its own. */
function sensitivity({ kind, path }: FileAccess, policy: PermissionPolicy): Sensitivity[] {
  const kinds: Sensitivity[] = [];
  if (isSecret(path)) kinds.push("secret");
  if (kind === "write" && givesOrders(path)) kinds.push("orders");
  if (isOwnState(path, policy)) kinds.push("state");
  return kinds;
}

/** A folder in there that was given to the run, to work in or for long outputs, is its own. */
function isOwnState(path: string, { secretFolders, roots }: PermissionPolicy): boolean {
  const folded = foldName(path);
  return secretFolders.map(foldName).some((folder) => {
    const given = roots.filter((root) => isInside(foldName(root), folder));
    return isInside(folded, folder) && !given.some((root) => isInside(path, root));
  });
}

function guardOf(access: FileAccess, policy: PermissionPolicy): string | undefined {
  const [kind] = sensitivity(access, policy);
  switch (kind) {
    case undefined:
      return undefined;
    case "secret":
      return "it may hold secrets";
    case "state":
      return "it belongs to linefeed's own state";
    case "orders":
      return "writing it may make code run later";
    default:
      return kind satisfies never;
  }
}
