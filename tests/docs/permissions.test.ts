import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { decide, type PermissionPolicy } from "../../src/agent/permissions.ts";
import { parseRules } from "../../src/run/rules.ts";
import { PERMISSION_MODES } from "../../src/protocol/words.ts";

// The tables of examples in docs/permissions.md, as a reader would take them.

const page = readFileSync("docs/permissions.md", "utf8");

/** The rows of the table behind a mark, without backticks. */
function rowsOf(mark: string): string[][] {
  const [, after = ""] = page.split(`<!-- checked: ${mark} -->`);
  const lines = after.trimStart().split("\n");
  const table = lines.slice(2, lines.indexOf(""));
  return table.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) =>
        cell
          .trim()
          .replace(/^`(.*)`$/, "$1")
          .replaceAll("\\|", "|"),
      ),
  );
}

/** A policy from options as they are typed. */
function policyOf(options: string): PermissionPolicy {
  const valueOf = (name: string) =>
    new RegExp(`${name} (?:"([^"]*)"|(\\S+))`).exec(options)?.slice(1).join("") ?? "";
  return {
    mode: PERMISSION_MODES.find((mode) => mode === valueOf("--permission-mode")) ?? "default",
    allow: parseRules(valueOf("--allowed-tools"), "/w"),
    deny: parseRules(valueOf("--disallowed-tools"), "/w"),
    roots: ["/w"],
    secretFolders: [],
  };
}

const wordFor = ({ allowed }: { allowed: boolean }) => (allowed ? "allowed" : "denied");

describe.each(["allow", "deny"])("commands, table %s", (mark) => {
  const before = page.slice(0, page.indexOf(`<!-- checked: ${mark} -->`)).trimEnd();
  const policy = policyOf(before.slice(before.lastIndexOf("With `")).replaceAll("`", ""));
  it.each(rowsOf(mark))("%s is %s", (command, verdict) => {
    expect(wordFor(decide("Bash", { kind: "execute", command: command ?? "" }, policy))).toBe(verdict);
  });
});

it.each(rowsOf("paths"))("%s by %s is %s", (call, options, verdict) => {
  const [, tool = "", file = ""] = /^(\w+)\((.*)\)$/.exec(call ?? "") ?? [];
  const path = resolve("/w", file);
  const kind = tool === "Write" || tool === "Edit" ? "write" : "read";
  expect(wordFor(decide(tool, { kind, path, requested: path }, policyOf(options ?? "")))).toBe(verdict);
});
