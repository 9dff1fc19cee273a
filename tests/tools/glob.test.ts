import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { globTool } from "../../src/tools/glob.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { livingCommands, callContext, finish } from "./support/call.ts";
import { callTool, folderWith } from "./support/files.ts";

const glob = (cwd: string, pattern: string, more: Partial<ToolContext> & { path?: string } = {}) => {
  const { path, ...context } = more;
  return callTool(globTool, path === undefined ? { pattern } : { pattern, path }, { cwd, ...context });
};

/** The files, aged in this order: the first is the oldest. */
function aged(...names: string[]): string {
  const folder = folderWith(Object.fromEntries(names.map((name) => [name, ""])));
  for (const [index, name] of names.entries()) utimesSync(join(folder, name), 1000 + index, 1000 + index);
  return folder;
}

describe("files that fit", () => {
  it("are listed, the last changed first", async () => {
    const cwd = aged("src/b.ts", "a.ts", "src/deep/c.ts", "d.js");
    const { result } = await glob(cwd, "*.ts");
    expect(result).toEqual({
      status: "ok",
      content: "src/deep/c.ts\na.ts\nsrc/b.ts\n",
      exitCode: null,
      truncated: false,
      outputFile: null,
    });
    expect((await glob(cwd, "src/*.ts")).text).toBe("src/b.ts\n");
    expect((await glob(cwd, "**/*")).text).toBe("d.js\nsrc/deep/c.ts\na.ts\nsrc/b.ts\n");
    expect((await glob(cwd, "*.ts", { path: "src" })).text).toBe("src/deep/c.ts\nsrc/b.ts\n");
    expect((await glob(cwd, join(cwd, "src/*"))).text).toBe("src/b.ts\n");
    expect((await glob(join(cwd, "src"), "../*.js")).text).toBe(`${join(cwd, "d.js")}\n`);
    expect((await glob(cwd, "*.py")).text).toBe("No file fits *.py.\n");
  });

  it("count if they are hidden, not if they are git's or ignored; folders and links are none", async () => {
    const cwd = aged(
      ".gitignore",
      ".git/config",
      ".github/ci.yml",
      "node_modules/x/index.js",
      "a.log",
      "b.js",
    );
    writeFileSync(join(cwd, ".gitignore"), "node_modules\n*.log\n");
    utimesSync(join(cwd, ".gitignore"), 1, 1);
    symlinkSync("b.js", join(cwd, "link.js"));
    for (const pattern of ["**", "**/*", "*"]) {
      expect((await glob(cwd, pattern)).text).toBe("b.js\n.github/ci.yml\n.gitignore\n");
    }
    expect((await glob(cwd, "*.js")).text).toBe("b.js\n");
    expect((await glob(cwd, "**/node_modules/**")).text).toMatch(/^No file/);
    // What the pattern names itself, and what lies in a folder that was named.
    expect((await glob(cwd, "*.log")).text).toBe("a.log\n");
    expect((await glob(cwd, "*.js", { path: "node_modules/x" })).text).toBe("node_modules/x/index.js\n");
    expect((await glob(cwd, "config")).text).toMatch(/^No file/);
  });

  it("that may not be read are counted, not named", async () => {
    const cwd = folderWith({ "a.ts": "", "secret/b.ts": "", "secret/c.ts": "" });
    const mayRead = (path: string) => !path.includes("/secret/");
    expect((await glob(cwd, "*.ts", { mayRead })).text).toBe(
      "a.ts\n[2 files that may not be read left out.]\n",
    );
  });

  it("have names on one line", async () => {
    const cwd = folderWith({ "line\nend": "", "ümlaut 🙂": "", "-x": "" });
    expect((await glob(cwd, "*")).text.split("\n").toSorted()).toEqual([
      "",
      '"line\\nend"',
      "-x",
      "ümlaut 🙂",
    ]);
  });

  it("are no more than 200, and the rest is counted", async () => {
    const cwd = folderWith(Object.fromEntries(Array.from({ length: 203 }, (_, n) => [`f${n}`, ""])));
    const { result, text } = await glob(cwd, "f*");
    expect(result.truncated).toBe(true);
    expect(text.split("\n").length).toBe(202);
    expect(text).toContain("[3 files more; use a narrower pattern or path.]");
  });
});

describe("told as an error:", () => {
  it.each([
    ["*", "missing", "missing does not exist."],
    ["*", "f", "f is a file, not a folder."],
    ["{a,b", "d", /^Glob failed: .*|is no glob/],
    ["{a/**", "d", "{a/** is no glob: the pattern {a/** has an open brace."],
  ])("%s in %s", async (pattern, path, message) => {
    const cwd = folderWith({ f: "" });
    mkdirSync(join(cwd, "d"));
    const { result, text } = await glob(cwd, pattern, { path });
    expect(result.status).toBe("error");
    if (typeof message === "string") expect(text).toBe(message);
    else expect(text).toMatch(message);
  });

  it("a time-out and a cancellation, with nothing left running", async () => {
    const cwd = folderWith({ a: "" });
    for (const [more, status] of [
      [{ timeoutMs: 0 }, /timeout|ok/],
      [{ signal: AbortSignal.abort() }, /cancelled/],
    ] as const) {
      const context = callContext({ cwd, ...more });
      const call = { pattern: "*" };
      await globTool.access(call, cwd);
      expect((await finish(globTool.run(call, context))).result.status).toMatch(status);
      expect(livingCommands(context)).toEqual([]);
    }
  });
});

it("the arguments", () => {
  expect(globTool.input.safeParse({ pattern: "*" }).success).toBe(true);
  expect(globTool.input.safeParse({ pattern: "" }).success).toBe(false);
  expect(globTool.input.safeParse({ pattern: "*", limit: 3 }).success).toBe(false);
  expect(globTool.summary({ pattern: "*.ts", path: "src" })).toBe("*.ts in src");
});

it("asks to read the folder that the pattern leads to", async () => {
  const cwd = folderWith({ "a/b": "" });
  const access = (pattern: string, path?: string) =>
    globTool.access(path === undefined ? { pattern } : { pattern, path }, cwd);
  expect(await access("**")).toEqual({ kind: "read", path: cwd, requested: cwd });
  expect(await access("/etc/*.conf")).toMatchObject({ path: "/etc" });
  expect(await access("../*", "a")).toMatchObject({ path: cwd });
  expect(await access("x", "a")).toMatchObject({ path: join(cwd, "a") });
});
