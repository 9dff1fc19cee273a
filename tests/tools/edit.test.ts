import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editTool } from "../../src/tools/edit.ts";
import { readTool } from "../../src/tools/read.ts";
import type { SeenFiles } from "../../src/tools/seen-files.ts";
import { applyEdit } from "../../src/tools/text-edit.ts";
import { callTool, folderWith, treeOf } from "./support/files.ts";

interface Change {
  old: string;
  new: string;
  all?: boolean;
}

async function edit(content: string | Buffer, change: Change) {
  const cwd = folderWith({ f: content });
  const { old, new: next, all } = change;
  const input = { file_path: "f", old_string: old, new_string: next };
  const { result, text } = await callTool(
    editTool,
    all === undefined ? input : { ...input, replace_all: all },
    {
      cwd,
    },
  );
  expect(treeOf(cwd)).toEqual(["f"]);
  return { result, text, after: readFileSync(join(cwd, "f")) };
}

describe("one match", () => {
  it("is replaced, and the line named", async () => {
    const { result, after } = await edit("one\ntwo\nthree\n", { old: "two", new: "2" });
    expect(result).toMatchObject({
      status: "ok",
      content: "f was edited: 1 place (line 2).",
      truncated: false,
    });
    expect(after.toString()).toBe("one\n2\nthree\n");
  });

  it.each<[string, Change, string]>([
    ["a", { old: "a", new: "" }, ""],
    ["no end", { old: "end", new: "$& $1 $$ \\n" }, "no $& $1 $$ \\n"],
    ["\ufeffa\n", { old: "a", new: "b" }, "\ufeffb\n"],
    ["a\r\nb\r\nc\r\n", { old: "a\nb", new: "x\ny\nz" }, "x\r\ny\r\nz\r\nc\r\n"],
    ["a\r\nb\r\n", { old: "a\r\nb", new: "x\r\ny" }, "x\r\ny\r\n"],
    ["a\r\nb\nc\n", { old: "b\nc", new: "x\ny" }, "a\r\nx\ny\n"],
    ["a\rb", { old: "\r", new: "\n" }, "a\nb"],
    ["ü≤🙂", { old: "≤", new: "≥" }, "ü≥🙂"],
    ["tab\there", { old: "\t", new: "    " }, "tab    here"],
  ])("%j with %j", async (content, change, expected) => {
    const { result, after } = await edit(content, change);
    expect(result.status).toBe("ok");
    expect(after.toString()).toBe(expected);
  });

  it("keeps the mode, and the link that led there", async () => {
    const cwd = folderWith({ real: "#!/bin/sh\nold\n" });
    chmodSync(join(cwd, "real"), 0o755);
    symlinkSync("real", join(cwd, "link"));
    await callTool(editTool, { file_path: "link", old_string: "old", new_string: "new" }, { cwd });
    expect(readFileSync(join(cwd, "real"), "utf8")).toBe("#!/bin/sh\nnew\n");
    expect(statSync(join(cwd, "real")).mode & 0o777).toBe(0o755);
    expect(treeOf(cwd)).toEqual(["link", "real"]);
  });
});

describe("several matches", () => {
  it("are refused, and their lines named", async () => {
    const { text, after } = await edit("a\nb\na a\n", { old: "a", new: "x" });
    expect(text).toBe(
      "f was not edited: old_string stands in it 3 times (lines 1, 3); take in more of the text around the right one, or set replace_all.",
    );
    expect(after.toString()).toBe("a\nb\na a\n");
  });

  it("are all replaced with replace_all", async () => {
    const { text, after } = await edit("a\n".repeat(20), { old: "a\n", new: "aa\n", all: true });
    expect(text).toBe("f was edited: 20 places (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 10 more).");
    expect(after.toString()).toBe("aa\n".repeat(20));
  });

  it("that overlap are taken from the left", () => {
    expect(applyEdit("aaa", { old: "aa", new: "b", all: true })).toEqual({
      kind: "edited",
      text: "ba",
      lines: [1],
    });
  });
});

describe("no match", () => {
  it.each<[string, string, RegExp]>([
    ["a\n\tb\n", "a\n    b", /Line 1 differs only in white space/],
    ["x\n\nif (a)  {\n", "if (a) {", /Line 3 differs only in white space/],
    ["one\ntwo\n", "     1\tone\n     2\ttwo", /without the line numbers/],
    ["a\r\nb\nc\n", "a\nb", /other line ends/],
    ["a\nb\n", "a\r\nb", /other line ends/],
    ["abc", "xyz", /does not stand in it\. Read the file again\.$/],
    ["", "x", /does not stand in it\. Read the file again\.$/],
    ["abc", "  ", /does not stand in it\. Read the file again\.$/],
  ])("of %j in %j is told with what is near", async (content, old, hint) => {
    const { result, text, after } = await edit(content, { old, new: "new" });
    expect(result.status).toBe("error");
    expect(text).toMatch(hint);
    expect(after.toString()).toBe(content);
  });
});

describe("what is no text in UTF-8 is refused:", () => {
  it.each([
    ["a binary file", Buffer.from("old\0")],
    ["a binary file", Buffer.from(`${"x".repeat(20_000)}old\0`)],
    ["UTF-16", Buffer.from("\ufeffold", "utf16le")],
    ["not UTF-8", Buffer.from("gr\xfcn, gr\xfcn, old and the rest of it", "latin1")],
    ["an image", Buffer.from("GIF89a old")],
    ["a PDF", Buffer.from("%PDF-1.7 old")],
  ])("%s", async (what, content) => {
    const { result, text, after } = await edit(content, { old: "old", new: "new" });
    expect(result.status).toBe("error");
    expect(text).toContain(what);
    expect(after.equals(content)).toBe(true);
  });

  it("a folder, a pipe, a missing file with near names", async () => {
    const cwd = folderWith({ "main.ts": "" });
    mkdirSync(join(cwd, "d"));
    execFileSync("mkfifo", [join(cwd, "fifo")]);
    const texts = [];
    for (const file_path of ["d", "fifo", "mian.ts", "nothing-near-it", "main.ts/x"]) {
      texts.push((await callTool(editTool, { file_path, old_string: "a", new_string: "b" }, { cwd })).text);
    }
    expect(texts).toEqual([
      "d was not edited: it is a folder.",
      "fifo was not edited: it is not a regular file (a device, pipe or socket).",
      `mian.ts was not edited: it does not exist; did you mean ${join(cwd, "main.ts")}?`,
      "nothing-near-it was not edited: it does not exist.",
      "main.ts/x was not edited: a part of its path is a file, not a folder.",
    ]);
  });
});

describe("an edit that means nothing is refused:", () => {
  it("the same text twice", async () => {
    expect((await edit("a", { old: "a", new: "a" })).text).toContain("nothing to change");
  });

  it("half of a character", async () => {
    expect((await edit("🙂", { old: "\ud83d", new: "x" })).text).toContain("half of a character");
  });
});

describe("an empty old_string", () => {
  it("makes a new file", async () => {
    const cwd = folderWith({});
    const { text } = await callTool(
      editTool,
      { file_path: "a/f", old_string: "", new_string: "x\n" },
      { cwd },
    );
    expect(text).toBe("a/f was written (a new file): 2 bytes.");
    expect(readFileSync(join(cwd, "a/f"), "utf8")).toBe("x\n");
  });

  it("does nothing to an old one, empty or not", async () => {
    for (const content of ["", "old"]) {
      const { text, after } = await edit(content, { old: "", new: "x" });
      expect(text).toContain("it exists, and an empty old_string only makes new files");
      expect(after.toString()).toBe(content);
    }
  });
});

describe("a file that was read in this run", () => {
  async function afterRead(content: string, change: (path: string) => void, read: object = {}) {
    const cwd = folderWith({ f: content });
    const seenFiles: SeenFiles = new Map();
    await callTool(readTool, { file_path: "f", ...read }, { cwd, seenFiles });
    change(join(cwd, "f"));
    const input = { file_path: "f", old_string: "old", new_string: "new" };
    return callTool(editTool, input, { cwd, seenFiles });
  }

  it.each([
    ["whole", {}],
    ["in part", { limit: 1 }],
  ])("%s is refused once it was changed", async (_, read) => {
    const { result, text } = await afterRead(
      "old\nmore\n",
      (path) => writeFileSync(path, "old\nother\n"),
      read,
    );
    expect(result.status).toBe("error");
    expect(text).toBe(
      "f was not edited: it was changed since it was last read or written in this run; read it again.",
    );
  });

  it("is edited if only its time was touched", async () => {
    expect((await afterRead("old\n", (path) => utimesSync(path, 1, 1))).result.status).toBe("ok");
  });

  it("is edited again and again", async () => {
    const cwd = folderWith({ f: "0" });
    const seenFiles: SeenFiles = new Map();
    for (let n = 0; n < 5; n += 1) {
      const input = { file_path: "f", old_string: String(n), new_string: String(n + 1) };
      expect((await callTool(editTool, input, { cwd, seenFiles })).result.status).toBe("ok");
    }
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("5");
  });
});

it("an edit and its reverse leave every text as it was", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "\n", "\r\n", "\ufeff", "🙂", "$&"),
    maxLength: 40,
  });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const whole = `${before}<old>${after}`;
      const there = applyEdit(whole, { old: "<old>", new: "<new\nline>", all: false });
      if (there.kind !== "edited") throw new Error(there.kind);
      expect(applyEdit(there.text, { old: "<new\nline>", new: "<old>", all: false })).toMatchObject({
        kind: "edited",
        text: whole,
        lines: there.lines,
      });
    }),
  );
});

it("the arguments", () => {
  const valid = { file_path: "a", old_string: "", new_string: "" };
  expect(editTool.input.safeParse(valid).success).toBe(true);
  expect(editTool.input.safeParse({ ...valid, replace_all: "yes" }).success).toBe(false);
  expect(editTool.input.safeParse({ ...valid, old_str: "" }).success).toBe(false);
  expect(editTool.summary({ ...valid, file_path: "a\nb" })).toBe("a …");
});
