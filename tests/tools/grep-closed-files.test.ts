import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { grepTool } from "../../src/tools/grep.ts";
import type { GrepInput } from "../../src/tools/grep-input.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { callTool, folderWith } from "./support/files.ts";

const grep = (cwd: string, call: GrepInput, more: Partial<ToolContext> = {}) =>
  callTool(grepTool, call, { cwd, ...more });

describe("files that may not be read", () => {
  const secrets = () => folderWith({ "a.txt": "KEY=1\n", ".env": "KEY=12345\n", "deep/.env": "nothing\n" });
  const mayRead = (path: string) => !path.endsWith(".env");

  it.each(["files_with_matches", "content", "count"] as const)("are left out of %s", async (output_mode) => {
    const { text } = await grep(secrets(), { pattern: "KEY", output_mode }, { mayRead });
    expect(text).toMatch(/^a\.txt.*\n\[2 files that may not be read left out\.\]\n$/);
  });

  it("do not show by anything whether they match", async () => {
    const cwd = secrets();
    const texts = [];
    for (const pattern of ["KEY=12345", "KEY=99999"]) {
      for (const call of [
        { pattern },
        { pattern, head_limit: 1 },
        { pattern, output_mode: "count" },
      ] as const) {
        texts.push((await grep(cwd, call, { mayRead })).text);
      }
    }
    expect(new Set(texts)).toEqual(new Set(["No matches.\n[2 files that may not be read left out.]\n"]));
  });

  it("are not searched at all: not even a complaint or a binary one shows what is in them", async () => {
    const cwd = folderWith({
      "a.txt": "",
      ".env": `KEY=12345\n${"a".repeat(5000)}`,
      // A NUL far behind the match.
      "deep/b.env": `KEY=12345\n${"x\n".repeat(100_000)}\0`,
      "*?[x]{!}\\.env": `KEY=12345\n${"x\n".repeat(100_000)}\0`,
    });
    const texts = [];
    for (const key of [12345, 99999]) {
      // Tries all ways, until the engine gives up, but only behind the right key.
      const hard = { pattern: `KEY=${key}\\n(?=a)(a+a+)+(a+a+)+[bc]`, multiline: true };
      texts.push((await grep(cwd, hard, { mayRead })).text);
      texts.push((await grep(cwd, { pattern: `KEY=${key}`, output_mode: "content" }, { mayRead })).text);
    }
    expect(new Set(texts)).toEqual(new Set(["No matches.\n[3 files that may not be read left out.]\n"]));
  });

  it("may be all there are", async () => {
    const { text } = await grep(secrets(), { pattern: "KEY", glob: ".env" }, { mayRead });
    expect(text).toBe("No matches.\n[2 files that may not be read left out.]\n");
    const one = await grep(secrets(), { pattern: "KEY", path: ".env" }, { mayRead });
    expect(one.text).toBe("No matches.\n[1 file that may not be read left out.]\n");
  });

  it("may be many, if they keep to their folders", async () => {
    const cwd = folderWith({ "a.txt": "KEY\n", "deep/b.txt": "KEY\n" });
    for (let n = 0; n < 3000; n += 1) {
      mkdirSync(join(cwd, `deep/shut/${n % 30}`), { recursive: true });
      writeFileSync(join(cwd, `deep/shut/${n % 30}/${"n".repeat(150)}${n}`), "KEY\n");
    }
    const closed = (path: string) => !path.includes("/shut/");
    expect((await grep(cwd, { pattern: "KEY" }, { mayRead: closed })).text).toBe(
      "a.txt\ndeep/b.txt\n[3000 files that may not be read left out.]\n",
    );
    const mixed = (path: string) => !path.endsWith("1") && !path.endsWith("3") && !path.endsWith("7");
    for (const folder of ["0", "1"]) writeFileSync(join(cwd, `deep/shut/${folder}/open`), "KEY\n");
    expect((await grep(cwd, { pattern: "KEY", head_limit: 1 }, { mayRead: mixed })).result.status).toBe("ok");
    const shut = (path: string) => !/\d$/.test(path);
    for (let n = 0; n < 30; n += 1) writeFileSync(join(cwd, `deep/shut/${n}/open`), "KEY\n");
    expect((await grep(cwd, { pattern: "KEY" }, { mayRead: shut })).text).toContain(
      "Too many files in there",
    );
  });

  it("count only if they are among those that are searched", async () => {
    const { text } = await grep(secrets(), { pattern: "KEY", glob: "*.txt" }, { mayRead });
    expect(text).toBe("a.txt\n");
  });

  it("are not reached through links", async () => {
    const cwd = secrets();
    symlinkSync(".env", join(cwd, "link.txt"));
    const outside = folderWith({ "b.txt": "KEY\n" });
    symlinkSync(outside, join(cwd, "out"));
    expect((await grep(cwd, { pattern: "KEY", glob: "*.txt" }, { mayRead })).text).toBe("a.txt\n");
  });

  it("nor when the folder became a link after it was approved", async () => {
    const cwd = folderWith({ "in/a": "x\n" });
    const outside = folderWith({ secret: "x\n" });
    const { text } = await callTool(
      grepTool,
      { pattern: "x", path: "in", output_mode: "content" },
      {
        cwd,
        between: () => {
          renameSync(join(cwd, "in"), join(cwd, "gone"));
          symlinkSync(outside, join(cwd, "in"));
        },
      },
    );
    expect(text).toBe("No matches.\n");
  });
});
