import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTool } from "../../src/tools/read.ts";
import type { SeenFiles } from "../../src/tools/seen-files.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { writeTool } from "../../src/tools/write.ts";
import { callTool, folderWith, isRoot, treeOf, withMode } from "./support/files.ts";

const write = (
  cwd: string,
  file_path: string,
  content: string,
  more: Partial<ToolContext> & { between?: () => void } = {},
) => callTool(writeTool, { file_path, content }, { cwd, ...more });

describe("a new file", () => {
  it("is written, with the folders that it needs and nothing beside it", async () => {
    const cwd = folderWith({});
    const { result } = await write(cwd, "a/b/file.txt", "grün\n");
    expect(result).toEqual({
      status: "ok",
      content: "a/b/file.txt was written (a new file): 6 bytes.",
      exitCode: null,
      truncated: false,
      outputFile: null,
    });
    expect(readFileSync(join(cwd, "a/b/file.txt"), "utf8")).toBe("grün\n");
    expect(treeOf(cwd)).toEqual(["a", "a/b", "a/b/file.txt"]);
  });

  it.each(["", "\ufeffbom\r\nand\0nul", "\u2028 🙂"])("holds exactly %j", async (content) => {
    const cwd = folderWith({});
    await write(cwd, "f", content);
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe(content);
  });

  it("has the mode that the umask leaves", async () => {
    const cwd = folderWith({});
    const old = process.umask(0o027);
    try {
      await write(cwd, "f", "x");
    } finally {
      process.umask(old);
    }
    expect(statSync(join(cwd, "f")).mode & 0o777).toBe(0o640);
  });
});

describe("an old file", () => {
  it.each([0o755, 0o600, 0o4711])("keeps its mode %o", async (mode) => {
    const cwd = folderWith({ f: "old" });
    chmodSync(join(cwd, "f"), mode);
    const { text } = await write(cwd, "f", "new");
    expect(text).toBe("f was written over: 3 bytes.");
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("new");
    expect(statSync(join(cwd, "f")).mode & 0o7777).toBe(mode);
  });

  it("is replaced as a whole: whoever has it open goes on reading the old one", async () => {
    const cwd = folderWith({ f: "old" });
    linkSync(join(cwd, "f"), join(cwd, "other"));
    await write(cwd, "f", "new");
    expect(readFileSync(join(cwd, "other"), "utf8")).toBe("old");
  });

  it("behind a link is the one that is written; the link stays", async () => {
    const cwd = folderWith({ "real/f": "old" });
    symlinkSync("real/f", join(cwd, "link"));
    symlinkSync("real/new", join(cwd, "dangling"));
    await write(cwd, "link", "new");
    await write(cwd, "dangling", "made");
    expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(cwd, "real/f"), "utf8")).toBe("new");
    expect(readFileSync(join(cwd, "real/new"), "utf8")).toBe("made");
  });

  it.skipIf(!isRoot)("keeps its owner where the system lets us", async () => {
    const cwd = folderWith({ f: "old" });
    execFileSync("chown", ["1234:1235", join(cwd, "f")]);
    await write(cwd, "f", "new");
    expect(statSync(join(cwd, "f"))).toMatchObject({ uid: 1234, gid: 1235 });
  });
});

describe("refused, with nothing changed:", () => {
  it.each([
    ["d", "d was not written: it is a folder."],
    ["fifo", "fifo was not written: it is not a regular file (a device, pipe or socket)."],
    ["/dev/null", "/dev/null was not written: it is not a regular file (a device, pipe or socket)."],
    ["f/below", "f/below was not written: a part of its path is a file, not a folder."],
    ["n".repeat(300), /was not written: its name is too long\.$/],
  ])("%s", async (path, message) => {
    const cwd = folderWith({ f: "old" });
    mkdirSync(join(cwd, "d"));
    execFileSync("mkfifo", [join(cwd, "fifo")]);
    const before = treeOf(cwd);
    const { result, text } = await write(cwd, path, "new");
    expect(result.status).toBe("error");
    if (typeof message === "string") expect(text).toBe(message);
    else expect(text).toMatch(message);
    expect(treeOf(cwd)).toEqual(before);
  });

  it("half of a character", async () => {
    const cwd = folderWith({ f: "old" });
    expect((await write(cwd, "f", "a\ud800")).text).toContain("half of a character");
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("old");
  });

  it("a call that was cancelled", async () => {
    const cwd = folderWith({});
    const { result } = await write(cwd, "f", "x", { signal: AbortSignal.abort() });
    expect(result.status).toBe("cancelled");
    expect(treeOf(cwd)).toEqual([]);
  });

  it.skipIf(isRoot)("a file that may not be written to, though its folder may", async () => {
    const cwd = folderWith({ f: "old" });
    chmodSync(join(cwd, "f"), 0o444);
    const { text } = await write(cwd, "f", "new");
    expect(text).toBe("f was not written: it or its folder may not be written to (EACCES).");
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("old");
  });

  it.skipIf(isRoot)("a folder that may not be written to", async () => {
    const cwd = folderWith({ "d/f": "old" });
    const mode = withMode(join(cwd, "d"), 0o555);
    const { text } = await write(cwd, "d/f", "new");
    mode.restore();
    expect(text).toBe("d/f was not written: it or its folder may not be written to (EACCES).");
  });
});

describe("only the approved place is written", () => {
  it("not another, when its folder became a link", async () => {
    const cwd = folderWith({ "in/f": "old", "out/f": "untouched" });
    const { text } = await write(cwd, "in/f", "new", {
      between: () => {
        renameSync(join(cwd, "in"), join(cwd, "gone"));
        symlinkSync("out", join(cwd, "in"));
      },
    });
    expect(text).toMatch(/ENOTDIR|ELOOP|its folder changed its place|a part of its path/);
    expect(readFileSync(join(cwd, "out/f"), "utf8")).toBe("untouched");
    expect(treeOf(join(cwd, "out"))).toEqual(["f"]);
  });

  it("not another, when a folder further up became a link", async () => {
    const cwd = folderWith({ "in/deep/f": "old", "out/deep/f": "untouched" });
    const { text } = await write(cwd, "in/deep/f", "new", {
      between: () => {
        renameSync(join(cwd, "in"), join(cwd, "gone"));
        symlinkSync("out", join(cwd, "in"));
      },
    });
    expect(text).toBe("in/deep/f was not written: its folder changed its place in the meantime.");
    expect(readFileSync(join(cwd, "out/deep/f"), "utf8")).toBe("untouched");
    expect(treeOf(join(cwd, "out"))).toEqual(["deep", "deep/f"]);
  });

  it("not through a file that became a link", async () => {
    const cwd = folderWith({ other: "untouched" });
    const { text } = await write(cwd, "f", "new", {
      between: () => symlinkSync("other", join(cwd, "f")),
    });
    expect(text).toBe("f was not written: it became a link in the meantime.");
    expect(readFileSync(join(cwd, "other"), "utf8")).toBe("untouched");
  });
});

describe("a file that was read in this run", () => {
  async function afterRead(change: (path: string) => void) {
    const cwd = folderWith({ f: "read\n" });
    const seenFiles: SeenFiles = new Map();
    await callTool(readTool, { file_path: "f" }, { cwd, seenFiles });
    change(join(cwd, "f"));
    return write(cwd, "f", "new", { seenFiles });
  }

  it("is not written over once it was changed", async () => {
    const { result, text } = await afterRead((path) => writeFileSync(path, "changed by another"));
    expect(result.status).toBe("error");
    expect(text).toContain("changed since it was last read or written in this run");
  });

  it("counts as changed when only the content tells", async () => {
    expect(
      (
        await afterRead((path) => {
          writeFileSync(path, "raed\n");
          utimesSync(path, 1, 1);
        })
      ).result.status,
    ).toBe("error");
  });

  it("is the same if only its time was touched", async () => {
    expect((await afterRead((path) => utimesSync(path, 1, 1))).result.status).toBe("ok");
  });

  it("may be written twice in a row", async () => {
    const cwd = folderWith({});
    const seenFiles: SeenFiles = new Map();
    await write(cwd, "f", "one", { seenFiles });
    expect((await write(cwd, "f", "two", { seenFiles })).result.status).toBe("ok");
    writeFileSync(join(cwd, "f"), "three");
    expect((await write(cwd, "f", "four", { seenFiles })).result.status).toBe("error");
  });
});

it("the arguments", () => {
  expect(writeTool.input.safeParse({ file_path: "a", content: "" }).success).toBe(true);
  expect(writeTool.input.safeParse({ file_path: "", content: "" }).success).toBe(false);
  expect(writeTool.input.safeParse({ file_path: "a", content: "", mode: 1 }).success).toBe(false);
  expect(writeTool.summary({ file_path: "x".repeat(500), content: "" }).length).toBeLessThanOrEqual(120);
});
