import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { decide, type PermissionPolicy } from "../../src/agent/permissions.ts";
import { parseRules } from "../../src/run/rules.ts";
import { COMMANDS, PATHS, type Rules } from "./verdicts.ts";

describe("the table of verdicts", () => {
  const table = ({ allow = "", deny = "", mode = "default" }: Rules): PermissionPolicy => ({
    mode,
    allow: parseRules(allow, "/w"),
    deny: parseRules(deny, "/w"),
    roots: ["/w", "/more"],
    secretFolders: ["/u/state/linefeed"],
  });

  it("has its hundred, of both kinds", () => {
    for (const verdict of ["yes", "no"]) {
      expect([...COMMANDS, ...PATHS].filter(([one]) => one === verdict).length).toBeGreaterThan(40);
    }
    expect(COMMANDS.length).toBeGreaterThan(100);
  });

  it.each(COMMANDS)("%s: %j by %j", (verdict, command, rules) => {
    const { allowed } = decide("Bash", { kind: "execute", command }, table(rules));
    expect(allowed ? "yes" : "no").toBe(verdict);
  });

  it.each(PATHS)("%s: %s %j by %j", (verdict, tool, file, rules) => {
    const path = resolve("/w", file);
    const kind = tool === "Write" || tool === "Edit" ? "write" : "read";
    const { allowed } = decide(tool, { kind, path, requested: path }, table(rules));
    expect(allowed ? "yes" : "no").toBe(verdict);
  });
});
