import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/tools/clock.ts";
import { grepTool } from "../../src/tools/grep.ts";
import type { GrepInput } from "../../src/tools/grep-input.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { callContext, finish, livingCommands, until } from "./support/call.ts";
import { callTool, folderWith } from "./support/files.ts";

const grep = (cwd: string, call: GrepInput, more: Partial<ToolContext> = {}) =>
  callTool(grepTool, call, { cwd, ...more });

const project = () =>
  folderWith({
    "a.ts": "one\ntwo\nthree\nfour\nfive\nTWO\n",
    "src/b.ts": "two\n",
    "src/c.js": "two two\r\n",
    ".hidden/d": "two\n",
    "ignored/e": "two\n",
    ".gitignore": "ignored\n",
    ".git/f": "two\n",
    "g.bin": "two\0two\n",
  });

describe("the modes", () => {
  it("names of files", async () => {
    const { result } = await grep(project(), { pattern: "two" });
    expect(result).toEqual({
      status: "ok",
      content: ".hidden/d\na.ts\nsrc/b.ts\nsrc/c.js\n",
      exitCode: null,
      truncated: false,
      outputFile: null,
    });
  });

  it("lines, with and without their numbers and their context", async () => {
    const cwd = project();
    const content = { pattern: "two", output_mode: "content" } as const;
    expect((await grep(cwd, content)).text).toBe(
      ".hidden/d:1:two\na.ts:2:two\nsrc/b.ts:1:two\nsrc/c.js:1:two two\n",
    );
    expect((await grep(cwd, { ...content, "-n": false, path: "src" })).text).toBe(
      "src/b.ts:two\nsrc/c.js:two two\n",
    );
    expect((await grep(cwd, { ...content, path: "a.ts", "-C": 1 })).text).toBe(
      "a.ts-1-one\na.ts:2:two\na.ts-3-three\n",
    );
    expect((await grep(cwd, { ...content, path: "a.ts", "-i": true, "-A": 1, "-B": 0 })).text).toBe(
      "a.ts:2:two\na.ts-3-three\n--\na.ts:6:TWO\n",
    );
  });

  it("counts of lines", async () => {
    expect((await grep(project(), { pattern: "two", output_mode: "count", "-i": true })).text).toBe(
      ".hidden/d:1\na.ts:2\nsrc/b.ts:1\nsrc/c.js:1\n",
    );
  });

  it("nothing is no error", async () => {
    expect((await grep(project(), { pattern: "nowhere" })).result).toMatchObject({
      status: "ok",
      content: "No matches.\n",
    });
  });
});

describe("what is searched", () => {
  it.each<[Omit<GrepInput, "pattern">, string]>([
    [{ glob: "*.ts" }, "a.ts\nsrc/b.ts\n"],
    [{ glob: "!*.ts" }, ".hidden/d\nsrc/c.js\n"],
    [{ glob: "src/**" }, "src/b.ts\nsrc/c.js\n"],
    [{ glob: "**/*" }, ".hidden/d\na.ts\nsrc/b.ts\nsrc/c.js\n"],
    [{ glob: "*.ts", path: "src" }, "src/b.ts\n"],
    [{ type: "js" }, "src/c.js\n"],
    [{ path: "ignored" }, "ignored/e\n"],
    [{ path: "./src/../a.ts" }, "a.ts\n"],
    [{ path: "g.bin", output_mode: "content" }, "No matches.\n[1 file with binary content passed over.]\n"],
  ])("%j", async (call, text) => {
    expect((await grep(project(), { pattern: "two", ...call })).text).toBe(text);
  });

  it("patterns over lines, look-around, alternatives", async () => {
    const cwd = project();
    const content = { output_mode: "content", path: "a.ts" } as const;
    expect((await grep(cwd, { ...content, pattern: "two.three", multiline: true })).text).toBe(
      "a.ts:2:two\na.ts:3:three\n",
    );
    expect((await grep(cwd, { ...content, pattern: "t(?=hree)" })).text).toBe("a.ts:3:three\n");
    expect((await grep(cwd, { ...content, pattern: "^(one|four)$" })).text).toBe("a.ts:1:one\na.ts:4:four\n");
  });

  it("names and lines of every kind", async () => {
    const cwd = folderWith({
      "line\nend": "x\n",
      "-e": "x\n",
      "a:1:b": "x\n",
      latin: Buffer.from("x gr\xfcn\n", "latin1"),
      cr: "x\ry\n",
    });
    const { text } = await grep(cwd, { pattern: "x", output_mode: "content" });
    expect(text.split("\n").toSorted()).toEqual(
      ["", '"line\\nend":1:x', "-e:1:x", "a:1:b:1:x", "cr:1:x\ry", "latin:1:x gr\ufffdn"].toSorted(),
    );
  });
});

describe("how much is shown", () => {
  const many = () => folderWith({ f: Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join("") });
  const lines = { pattern: "line", output_mode: "content", "-n": false } as const;

  it("250 lines, or as many as were asked for, from where they were asked for", async () => {
    const cwd = many();
    const first = await grep(cwd, lines);
    expect(first.result.truncated).toBe(true);
    expect(first.text).toContain("f:line 249\n[There is more: pass offset 250, or search a smaller part.]\n");
    const next = await grep(cwd, { ...lines, offset: 250, head_limit: 2 });
    expect(next.text).toBe(
      "f:line 250\nf:line 251\n[There is more: pass offset 252, or search a smaller part.]\n",
    );
    const last = await grep(cwd, { ...lines, offset: 999 });
    expect(last).toMatchObject({ text: "f:line 999\n", result: { truncated: false } });
    expect((await grep(cwd, { ...lines, offset: 1000 })).text).toBe(
      "No matches from offset 1000 on; there are 1000.\n",
    );
  });

  it("30,000 characters at most, and lines cut", async () => {
    const cwd = folderWith({
      f: `${"line ".repeat(2000)}\n`.repeat(100),
      one: `line${"x".repeat(5_000_000)}`,
    });
    const { result, text } = await grep(cwd, { ...lines, head_limit: 1000 });
    expect(result.truncated).toBe(true);
    expect(text.length).toBeLessThan(30_200);
    expect(text).toMatch(/^f:line .* \[\.\.\. omitted end of long line\]\n/);
    expect((await grep(cwd, { ...lines, path: "one" })).text.length).toBeLessThan(1200);
  });

  it("and a search that has enough is ended, not waited for", async () => {
    const cwd = folderWith({ f: "line\n".repeat(1_000_000) });
    const context = callContext({ cwd });
    const call = { ...lines, head_limit: 1 };
    await grepTool.access(call, cwd);
    expect((await finish(grepTool.run(call, context))).text).toMatch(/^f:line\n\[There is more/);
    expect(livingCommands(context)).toEqual([]);
  });
});

describe("nothing in the arguments is an option or a program:", () => {
  it.each<GrepInput>([
    { pattern: "--pre=./evil" },
    { pattern: "--pre", path: "evil" },
    { pattern: "-f" },
    { pattern: "x", glob: "--pre=./evil" },
    { pattern: "x", type: "all --pre=./evil" },
    { pattern: "x", path: "--pre=./evil" },
  ])("%j", async (call) => {
    const cwd = folderWith({ evil: "#!/bin/sh\ntouch ran\n", "--pre=./evil": "--pre=./evil x -f\n" });
    mkdirSync(join(cwd, "config"));
    writeFileSync(join(cwd, "config/rc"), "--pre=./evil\n");
    const environment = { ...process.env, RIPGREP_CONFIG_PATH: join(cwd, "config/rc") };
    await grep(cwd, call, { environment });
    expect((await grep(cwd, { pattern: ".", glob: "ran" })).text).toBe("No matches.\n");
  });
});

describe("told as an error:", () => {
  it.each<[GrepInput, string | RegExp]>([
    [{ pattern: "(" }, /ripgrep refused the search:\n.*regex/],
    [{ pattern: "x", type: "klingon" }, /unrecognized file type: klingon/],
    [{ pattern: "x", glob: "{a" }, /refused the search:\n/],
    [{ pattern: "x", glob: "[a/*" }, "[a/* is no glob: the pattern has an open bracket."],
    [{ pattern: "x", path: "missing" }, "missing does not exist."],
    [
      { pattern: "x", path: "/dev/null" },
      "/dev/null is neither a folder nor a regular file; it was not searched.",
    ],
    [{ pattern: "a\0b" }, "The pattern holds a NUL character."],
  ])("%j", async (call, message) => {
    const { result, text } = await grep(project(), call);
    expect(result.status).toBe("error");
    if (typeof message === "string") expect(text).toBe(message);
    else expect(text).toMatch(message);
  });

  it.each(["timeout", "cancelled"] as const)("%s, with nothing left running", async (how) => {
    // Each line takes the engine that knows look-around some ms: a search of minutes.
    const cwd = folderWith({ f: `${"a".repeat(20)}\n`.repeat(50_000) });
    const call = { pattern: "(?=a)(a+)+[bc]", output_mode: "count" } as const;
    const controller = new AbortController();
    const context: ToolContext = callContext({
      cwd,
      signal: controller.signal,
      clock: {
        ...systemClock,
        async sleep(ms, signal) {
          if (how === "cancelled" || !(await runs())) return systemClock.sleep(ms, signal);
        },
      },
    });
    const runs = async () => {
      await until(() => livingCommands(context).length > 0, "a search runs");
      return livingCommands(context).some((command) => command.includes("--count"));
    };
    await grepTool.access(call, cwd);
    const running = finish(grepTool.run(call, context));
    if (how === "cancelled") {
      await until(() => livingCommands(context).some((command) => command.includes("--count")), "it counts");
      controller.abort();
    }
    expect((await running).result.status).toBe(how);
    expect(livingCommands(context)).toEqual([]);
  });
});

it("the arguments", () => {
  const valid = (call: object) => grepTool.input.safeParse(call).success;
  expect(valid({ pattern: "x", "-A": 0, "-i": true, head_limit: 1, offset: 0, type: "js" })).toBe(true);
  expect([{ pattern: "" }, { pattern: "x", "-A": -1 }, { pattern: "x", head_limit: 0 }].some(valid)).toBe(
    false,
  );
  expect(
    [
      { pattern: "x", output_mode: "lines" },
      { pattern: "x", "--pre": "y" },
    ].some(valid),
  ).toBe(false);
  expect(grepTool.summary({ pattern: "a b", path: "src", glob: "*.ts" })).toBe("a b in src in *.ts");
  expect(grepTool.summary({ pattern: "x".repeat(400) }).length).toBeLessThanOrEqual(120);
});
