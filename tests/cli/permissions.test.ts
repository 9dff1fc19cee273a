import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { broadRuleNotices } from "../../src/agent/broad-rules.ts";
import { decide, type PermissionPolicy } from "../../src/agent/permissions.ts";
import { parseRules } from "../../src/run/rules.ts";
import { resolveExisting } from "../../src/tools/workspace.ts";
import { resolve } from "node:path";
import { temporaryFolder } from "../support/cli.ts";
import type { Rules } from "./verdicts.ts";

function policy(cwd: string, { allow = "", deny = "", mode = "default" }: Rules): PermissionPolicy {
  return {
    mode,
    allow: parseRules(allow, cwd),
    deny: parseRules(deny, cwd),
    roots: [cwd],
    secretFolders: [],
  };
}

const runs = (command: string, rules: Rules) =>
  decide("Bash", { kind: "execute", command }, policy("/nowhere", rules)).allowed;

/** A folder with links, secrets and a neighbour outside. */
function workspace(): string {
  const top = realpathSync(temporaryFolder());
  const cwd = join(top, "w*rk");
  for (const folder of ["src/deep", "data", ".ssh"]) mkdirSync(join(cwd, folder), { recursive: true });
  mkdirSync(join(top, "work", "src"), { recursive: true });
  for (const file of [
    "a.txt",
    "src/b.ts",
    "src/deep/c.ts",
    "data/x",
    ".env",
    "src/.env",
    "key.pem",
    ".ssh/config",
  ]) {
    writeFileSync(join(cwd, file), file);
  }
  writeFileSync(join(top, "outside.txt"), "");
  writeFileSync(join(top, "work", "src", "b.ts"), "");
  symlinkSync("data", join(cwd, "link"));
  symlinkSync(join(top, "outside.txt"), join(cwd, "out"));
  return cwd;
}

async function reads(cwd: string, path: string, rules: Rules): Promise<boolean> {
  const access = {
    kind: "read",
    path: await resolveExisting(path, cwd),
    requested: resolve(cwd, path),
  } as const;
  return decide("Read", access, policy(cwd, rules)).allowed;
}

describe("commands", () => {
  it.each([
    ["git log -1", { allow: "Bash(git log *)" }],
    ["git log", { allow: "Bash(git log *)" }],
    ["  git   log\t-1 ", { allow: "Bash(git log *)" }],
    ["git log -1", { allow: "Bash(git log:*)" }],
    ["ls -la 'my file' \"x y\"", { allow: "Bash(ls *)" }],
    ["npm test", { allow: "Bash(npm test),Read" }],
    ["anything; at | all > x", { allow: "Bash" }],
    ["anything; at | all > x", { allow: "Bash(*)" }],
    ["rm -rf /", { mode: "bypass" }],
    ["git status", { allow: "Bash", deny: "Bash(rm *)" }],
  ] as const)("%j is allowed by %j", (command, rules) => {
    expect(runs(command, rules)).toBe(true);
  });

  it.each([
    ["ls", {}],
    ["ls", { mode: "plan", allow: "Bash" }],
    ["ls", { allow: "Read" }],
    ["git logx", { allow: "Bash(git log *)" }],
    ["git push", { allow: "Bash(git log *)" }],
    ["npm test -- --x", { allow: "Bash(npm test)" }],
    ["git log; rm x", { allow: "Bash(git log *)" }],
    ["git log && rm x", { allow: "Bash(git log *)" }],
    ["git log | sh", { allow: "Bash(git log *)" }],
    ["git log & rm x", { allow: "Bash(git log *)" }],
    ["git log\nrm x", { allow: "Bash(git log *)" }],
    ["git log\rrm x", { allow: "Bash(git log *)" }],
    ["git log $(rm x)", { allow: "Bash(git log *)" }],
    ["git log `rm x`", { allow: "Bash(git log *)" }],
    ['git log "$(rm x)"', { allow: "Bash(git log *)" }],
    ["git log > x", { allow: "Bash(git log *)" }],
    ["git log <(rm x)", { allow: "Bash(git log *)" }],
    ["git log \\\nrm x", { allow: "Bash(git log *)" }],
    ["git log ~root", { allow: "Bash(git log *)" }],
    ["git log {a,b}", { allow: "Bash(git log *)" }],
    ["git log #x", { allow: "Bash(git log *)" }],
    ["PAGER=x git log", { allow: "Bash(git log *)" }],
    ["'PAGER=x' git log", { allow: "Bash(* log *)" }],
    ["./check\u00a0x", { allow: "Bash(./check *)" }],
    ["./check\fx", { allow: "Bash(./check *)" }],
    ["\u2003git log", { allow: "Bash(git log *)" }],
    ["", { allow: "Bash(git log *)" }],
    ["rm x", { mode: "bypass", deny: "Bash(rm *)" }],
    ["/bin/rm x", { allow: "Bash", deny: "Bash(rm *)" }],
    ["time rm x", { allow: "Bash", deny: "Bash(rm *)" }],
    ["exec rm x", { allow: "Bash", deny: "Bash(rm *)" }],
    ["/usr/bin/env rm x", { allow: "Bash", deny: "Bash(rm *)" }],
    ["sh -c 'rm x'", { allow: "Bash", deny: "Bash(rm *)" }],
    ["ls; rm x", { allow: "Bash", deny: "Bash(rm *)" }],
    ["ls $(rm x)", { mode: "bypass", deny: "Bash(rm *)" }],
    ["ls", { mode: "bypass", deny: "Bash" }],
  ] as const)("%j is denied by %j", (command, rules) => {
    expect(runs(command, rules)).toBe(false);
  });
});

describe("a denial says what to do", () => {
  const reasonFor = (command: string, rules: Rules = {}) => {
    const decision = decide("Bash", { kind: "execute", command }, policy("/nowhere", rules));
    return decision.allowed ? "" : decision.reason;
  };

  it("names the command that no rule covers, and the rule that would", () => {
    expect(reasonFor("ls -l && git  push 'a b' 2>&1", { allow: "Bash(ls *)" })).toBe(
      "no rule allows the command git push 'a b' (command 2 of 2 in it); " +
        "allow it with the rule Bash(git push 'a b') in --allowed-tools, or every command with Bash",
    );
    expect(runs("git push 'a b'", { allow: "Read Bash(git push 'a b')" })).toBe(true);
  });

  it("says what is not understood", () => {
    expect(reasonFor("ls $(x)")).toContain("since a $ is expanded by the shell");
    expect(reasonFor("ls $(x)")).toMatch(/The command: ls \$\(x\)$/);
  });

  it("says what a denying rule found", () => {
    const rules = { mode: "bypass", deny: "Bash(rm *)" } as const;
    const rule = "the rule Bash(rm *) of --disallowed-tools denies";
    expect(reasonFor("ls && /bin/rm -f 'a b'", rules)).toBe(`${rule} the command /bin/rm -f 'a b'`);
    expect(reasonFor("ls | xargs rm", rules)).toBe(
      `${rule} what this command may hide, since xargs runs other programs. The command: ls | xargs rm`,
    );
    expect(reasonFor("ls &", rules)).toContain(
      "since & starts something in the background. The command: ls &",
    );
  });

  it("stays short, and cuts no character", () => {
    for (const command of [`ls '${"😀".repeat(5000)}'`, `ls $(${"x".repeat(5000)})`, "x".repeat(5000)]) {
      expect(reasonFor(command).length).toBeLessThan(800);
      expect(reasonFor(command).isWellFormed()).toBe(true);
    }
  });
});

describe("a rule that is as good as Bash", () => {
  const notices = (allow: string) => broadRuleNotices(parseRules(allow, "/"));

  it.each([
    "Bash(git *)",
    "Bash(git:*)",
    "Bash(git -C * *)",
    "Bash(npm *)",
    "Bash(python *)",
    "Bash(python3.12 -u *)",
    "Bash(/usr/bin/env *)",
    "Bash(env A=b *)",
    "Bash(timeout 10 *)",
    "Bash(find *)",
    "Bash(find . *)",
    "Bash(bash -c *)",
    "Bash(xargs *)",
    "Bash(export *)",
    "Bash(* --version)",
  ])("%s is told", (rule) => {
    expect(notices(`${rule},${rule}`).map(({ message }) => message)).toEqual([
      expect.stringContaining(`the rule ${rule} is as good as Bash: `),
    ]);
  });

  it.each([
    "Bash",
    "Bash(*)",
    "Bash,Bash(git *)",
    "Bash(git log *)",
    "Bash(npm test)",
    "Bash(npm run build *)",
    "Bash(python -m pytest *)",
    "Bash(timeout 10 npm test *)",
    "Bash(ls *)",
    "Bash(source venv/bin/activate)",
    "Read(**)",
  ])("%s is not", (rules) => {
    expect(notices(rules)).toEqual([]);
  });
});

describe("paths", () => {
  it("are read inside the working folder, but for secrets, and nowhere else", async () => {
    const cwd = workspace();
    for (const path of ["a.txt", "src/b.ts", "./src/../a.txt", "link/x", join(cwd, "a.txt"), "missing"]) {
      expect(await reads(cwd, path, {}), path).toBe(true);
    }
    for (const path of [
      "out",
      "../outside.txt",
      "/etc/passwd",
      "/proc/self/root/etc/passwd",
      ".env",
      "src/.env",
      "key.pem",
      ".ssh/config",
      "../work/src/b.ts",
    ]) {
      expect(await reads(cwd, path, {}), path).toBe(false);
    }
  });

  it.each([
    ["out", "Read(../outside.txt)"],
    ["../outside.txt", "Read(../*)"],
    [".env", "Read(.env)"],
    [".env", "Read(.env*)"],
    ["src/.env", "Read(**/.env)"],
    [".ssh/config", "Read(.ssh/**)"],
    [".ssh/config", "Read(.ssh)"],
    ["/etc/hostname", "Read(/etc/**)"],
    ["/etc/hostname", "Read"],
  ])("%s is allowed by %s", async (path, allow) => {
    expect(await reads(workspace(), path, { allow })).toBe(true);
  });

  it.each([
    [".env", "Read"],
    [".env", "Read(**)"],
    ["src/.env", "Read(src/**)"],
    ["/etc/hostname", "Read(*)"],
    ["../outside.txt", "Read(**)"],
    ["../work/src/b.ts", "Read(src/**)"],
    ["../outside.txt", "Read(../out*/**)"],
  ])("%s is not allowed by %s", async (path, allow) => {
    expect(await reads(workspace(), path, { allow })).toBe(false);
  });

  it.each([
    ["data/x", "Read(data/**)"],
    ["data/x", "Read(data)"],
    ["data/x", "Read(data/)"],
    ["data/x", "Read(link/**)"],
    ["link/x", "Read(link/**)"],
    ["link/x", "Read(data)"],
    ["data/x", "Read(./src/../data//x)"],
    ["data/x", "Read(../w*rk/data/**)"],
    ["data/x", "Read(*/x)"],
    ["src/deep/c.ts", "Read(**/deep)"],
    ["a.txt", "Read"],
  ])("%s is denied by %s, whatever else allows it", async (path, deny) => {
    const cwd = workspace();
    expect(await reads(cwd, path, { allow: "Read", mode: "bypass", deny })).toBe(false);
    expect(await reads(cwd, "src/b.ts", { deny })).toBe(deny !== "Read");
  });
});

describe("a rule that cannot mean anything is refused", () => {
  it.each([
    "Bash()",
    "Bash( )",
    "Bash(:*)",
    "Read()",
    "bash",
    "read(src/**)",
    "Raed",
    "Bash(ls",
    "Bash(ls && pwd)",
    "Bash(ls > x)",
    "Bash(echo $HOME)",
    "Bash(echo 'x)",
    "Bash(A=b npm test)",
    "Bash(if *)",
    "(ls)",
    "Read({a,b}/**)",
    "Read(~/x)",
    "Read(src/*/../x)",
  ])("%s", (rule) => {
    expect(() => parseRules(rule, "/")).toThrow("cannot use the rule");
  });

  it("tools of other agents and of later versions are none of our business", () => {
    expect(parseRules("Edit, WebFetch mcp__server__tool", "/").map(({ tool }) => tool)).toEqual([
      "Edit",
      "WebFetch",
      "mcp__server__tool",
    ]);
    const patterns = "WebFetch(domain:{a}) mcp__x(it's $y),Read(it's/**)";
    expect(parseRules(patterns, "/").map(({ match }) => match.kind)).toEqual(["other", "other", "path"]);
  });
});
