import { AgentError } from "../../protocol/errors.ts";
import type { Draft } from "./command-line.ts";
import { isEmpty, isRecord, parseConfig, type Json } from "./config.ts";
import { allowRules, denyRules } from "./rules.ts";

/** Whether a name says that it may restrict the run. */
export const RESTRICTING = /sandbox|read-?only|deny|disallow|restrict|budget/i;

/**
 * The settings of Claude Code, as JSON or as a file: its permission rules, folders, mode and model count; what restricts the run
 * otherwise fails it, and the rest is ignored with a warning.
 *
 * @throws AgentError `usage` naming the setting.
 */
export function readSettings(draft: Draft, given: string): void {
  if (given.trim() === "") return;
  const { permissions, model, ...others } = parseConfig(given, "--settings");
  if (!isEmpty(permissions)) readPermissions(draft, permissions);
  if (typeof model === "string") draft.defaults["--model"] = model;
  const set = Object.entries(others).filter(([, value]) => !isEmpty(value));
  for (const [name, value] of set) refuseRestriction(name, value);
  const ignored = set.map(([name]) => name).filter((name) => name !== "sandbox" && name !== "$schema");
  if (ignored.length > 0) {
    draft.warnings.push(`--settings: not supported by this version and ignored: ${ignored.join(", ")}`);
  }
}

function refuseRestriction(name: string, value: unknown): void {
  if (name === "sandbox" && isRecord(value) && value["enabled"] === false) return;
  if (name === "hooks" || RESTRICTING.test(name)) throw unsupported(name);
}

function readPermissions(draft: Draft, permissions: unknown): void {
  if (!isRecord(permissions)) throw unsupported("permissions");
  const known = ["allow", "deny", "additionalDirectories", "defaultMode"];
  draft.argv.push(`--allowed-tools=${allowRules(listOf(permissions, "allow"), draft.home)}`);
  draft.argv.push(`--disallowed-tools=${denyRules(listOf(permissions, "deny"), draft.home)}`);
  const folders = listOf(permissions, "additionalDirectories");
  draft.argv.push(...folders.map((folder) => `--add-dir=${folder}`));
  const { defaultMode } = permissions;
  if (typeof defaultMode === "string") draft.defaults["--permission-mode"] = defaultMode;
  // `ask`, and whatever comes after it, is there to keep calls from running.
  const other = Object.keys(permissions).find((name) => !known.includes(name) && !isEmpty(permissions[name]));
  if (other !== undefined) throw unsupported(`permissions.${other}`);
}

function listOf(permissions: Json, name: string): string[] {
  const list = permissions[name] ?? [];
  if (Array.isArray(list) && list.every((entry) => typeof entry === "string")) return list;
  throw new AgentError("usage", `--settings: permissions.${name} is no list of texts`);
}

function unsupported(name: string): AgentError {
  return new AgentError(
    "usage",
    `--settings: ${name} may restrict the run and is not supported by this version; leave it out`,
  );
}
