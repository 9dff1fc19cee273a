import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  openSync,
  closeSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LinePage } from "../../src/tools/line-page.ts";
import { readTool } from "../../src/tools/read.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { callContext, finish, temporaryFolder } from "./support/call.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

interface Call {
  file_path: string;
  offset?: number;
  limit?: number;
}

async function read(call: Call, more: Partial<ToolContext> = {}) {
  const context = callContext(more);
  await readTool.access(call, context.cwd);
  return finish(readTool.run(call, context));
}

async function readContent(content: string | Buffer, call: Omit<Call, "file_path"> = {}) {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "file"), content);
  return read({ file_path: "file", ...call }, { cwd });
}

describe("a text file", () => {
  it("is shown with line numbers", async () => {
    const { result } = await readContent("a\n\n  b\n");
    expect(result).toEqual({
      status: "ok",
      content: "     1\ta\n     2\t\n     3\t  b\n",
      exitCode: null,
      truncated: false,
      outputFile: null,
    });
  });

  it.each([
    ["a", "     1\ta\n"],
    ["a\r\nb\r\n", "     1\ta\r\n     2\tb\r\n"],
    ["\ufeffa", "     1\ta\n"],
    ["\n", "     1\t\n"],
    [Buffer.from("gr\xfcn", "latin1"), "     1\tgr\ufffdn\n"],
    ["a\0b".replace("\0", "\u0001"), "     1\ta\u0001b\n"],
    ["ü≤🙂", "     1\tü≤🙂\n"],
    ["", "(file is empty)"],
    ["\ufeff", "(file is empty)"],
  ])("%j", async (content, shown) => {
    expect((await readContent(content)).result).toMatchObject({ status: "ok", content: shown });
  });

  it("is read from a line on, so many lines", async () => {
    const { result } = await readContent("1\n2\n3\n4\n5\n", { offset: 2, limit: 2 });
    expect(result).toMatchObject({
      content: "     2\t2\n     3\t3\n\n[The file goes on: read on with offset 4.]\n",
      truncated: false,
    });
    expect((await readContent("1\n2\n3", { offset: 2, limit: 2 })).text).toBe("     2\t2\n     3\t3\n");
  });

  it("is told from its end", async () => {
    const { result, text } = await readContent("1\n2\n", { offset: 3 });
    expect(result.status).toBe("error");
    expect(text).toContain("only 2 lines");
  });

  it("longer than 2000 lines is read on with offset", async () => {
    const { result, text } = await readContent("x\n".repeat(2001));
    expect(result.truncated).toBe(true);
    expect(text).toContain("\n  2000\tx\n\n[The file goes on: read on with offset 2001.]");
    expect((await readContent("x\n".repeat(2000))).result.truncated).toBe(false);
  });

  it("of long lines ends before the line that does not fit", async () => {
    const { result, text } = await readContent(`${"x".repeat(10_000)}\n`.repeat(4));
    expect(result.truncated).toBe(true);
    expect(text.length).toBeLessThan(30_200);
    expect(text).toContain("read on with offset 3.");
  });

  it("of one overlong line is cut, and the cut is named", async () => {
    const { result, text } = await readContent(`${"🙂".repeat(100_000)}\nnext`);
    expect(result.truncated).toBe(true);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/\n\[Line 1 is too long: 170\d\d\d characters left out; .*offset 2\.\]\n$/);
    expect(text.length).toBeLessThan(30_200);
  });

  it("of invalid UTF-8 here and there is still text", async () => {
    expect((await readContent(Buffer.from("gr\xfc\xdfe, all of it\n", "latin1"))).text).toBe(
      "     1\tgr\ufffd\ufffde, all of it\n",
    );
  });

  it("of a gigabyte is read in bounded memory", async () => {
    const cwd = temporaryFolder();
    const file = openSync(join(cwd, "big"), "w");
    writeSync(file, "first\n");
    // A hole of NULs is one line of a gigabyte; the beginning looks like text.
    writeSync(file, "x".repeat(8192));
    closeSync(file);
    truncateSync(join(cwd, "big"), 1024 ** 3);
    const before = process.memoryUsage().rss;
    const { text } = await read({ file_path: "big", limit: 1 }, { cwd });
    expect(text).toBe("     1\tfirst\n\n[The file goes on: read on with offset 2.]\n");
    expect((await read({ file_path: "big", offset: 3 }, { cwd })).text).toContain("only 2 lines");
    expect((process.memoryUsage().rss - before) / 1024 ** 2).toBeLessThan(150);
  });

  it("is not read on after a cancellation", async () => {
    const controller = new AbortController();
    controller.abort();
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "file"), "a");
    expect((await read({ file_path: "file" }, { cwd, signal: controller.signal })).result.status).toBe(
      "cancelled",
    );
  });
});

it("pages do not depend on where the text is cut, and joined they are the whole", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replaceAll("\n", ""));
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 30 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 90, max: 200 }),
      (lines, size, units) => {
        const whole = lines.map((text) => `${text}\n`).join("");
        const shown: string[] = [];
        for (let offset = 1, more = true; more;) {
          const pages = [size, whole.length + 1].map((step) =>
            pageOf(whole, step, { offset, limit: 5, units }),
          );
          expect(pages[0]).toEqual(pages[1]);
          shown.push(...(pages[0]?.text.match(/(?<=\t).*\n/gsu) ?? []).join("").split(/\n {0,5}\d+\t|\n$/));
          more = pages[0]?.more ?? false;
          offset = pages[0]?.next ?? 1;
        }
        expect(shown.filter((text) => text !== "")).toEqual(lines.filter((text) => text !== ""));
      },
    ),
    { numRuns: 200 },
  );
});

function pageOf(text: string, step: number, options: { offset: number; limit: number; units: number }) {
  const page = new LinePage(options);
  for (let at = 0; at < text.length && page.add(text.slice(at, at + step)); at += step) continue;
  page.end();
  return { text: page.text, more: page.more, next: page.next, cut: page.cut };
}

describe("an image", () => {
  it("is shown as one", async () => {
    expect((await readContent(PNG)).result).toMatchObject({
      status: "ok",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG.toString("base64") } },
      ],
    });
  });

  it.each([
    ["image/jpeg", "\xff\xd8\xff\xe0 and so on"],
    ["image/gif", "GIF89a and so on"],
    ["image/webp", "RIFF\x10\x00\x00\x00WEBPVP8 and so on"],
  ])("%s", async (mediaType, start) => {
    const { result } = await readContent(Buffer.from(start, "latin1"));
    expect(result.content).toMatchObject([{ source: { media_type: mediaType } }]);
  });

  it("is refused when its base64 text is longer than providers take", async () => {
    const largest = (5 * 1024 * 1024 * 3) / 4;
    const fits = await readContent(Buffer.concat([PNG], largest));
    expect(fits.result.status).toBe("ok");
    const { result, text } = await readContent(Buffer.concat([PNG], largest + 1));
    expect(result.status).toBe("error");
    expect(text).toContain("too large");
  });
});

describe("what is no text is refused by name:", () => {
  it.each([
    ["binary file", Buffer.from([1, 2, 0, 3])],
    ["binary file", Buffer.from(Array.from({ length: 200 }, (_, index) => 128 + (index % 64)))],
    ["UTF-16", Buffer.from("\ufeffhello", "utf16le")],
    ["PDF", Buffer.from("%PDF-1.7\n")],
  ])("%s", async (what, content) => {
    const { result, text } = await readContent(content);
    expect(result.status).toBe("error");
    expect(text).toContain(what);
  });

  it("a missing file, with near names", async () => {
    const cwd = temporaryFolder();
    for (const name of ["README.md", "main.ts", "other"]) writeFileSync(join(cwd, name), "");
    const { result, text } = await read({ file_path: "readme.txt" }, { cwd });
    expect(result.status).toBe("error");
    expect(text).toBe(`readme.txt does not exist. Did you mean ${join(cwd, "README.md")}?`);
    expect((await read({ file_path: "mian.ts" }, { cwd })).text).toContain("main.ts?");
    expect((await read({ file_path: "nothing-like-it" }, { cwd })).text).toBe(
      "nothing-like-it does not exist.",
    );
    expect((await read({ file_path: "no/such/folder" }, { cwd })).text).toBe(
      "no/such/folder does not exist.",
    );
    expect((await read({ file_path: "other/x" }, { cwd })).text).toBe("other/x does not exist.");
  });

  it("a folder, with what it holds", async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "d/sub"), { recursive: true });
    expect((await read({ file_path: "d/sub" }, { cwd })).text).toContain(
      "is a folder, not a file. It is empty.",
    );
    for (let n = 100; n < 250; n += 1) writeFileSync(join(cwd, `d/f${n}`), "");
    const { result, text } = await read({ file_path: "d" }, { cwd });
    expect(result.status).toBe("error");
    expect(text).toContain("It holds:\nf100\nf101\n");
    expect(text).toContain("f199\n… and 51 more");
  });

  it("a device, a named pipe and a socket, without waiting", async () => {
    const cwd = temporaryFolder();
    execFileSync("mkfifo", [join(cwd, "fifo")]);
    for (const path of ["fifo", "/dev/null", "/dev/tty"]) {
      const { result, text } = await read({ file_path: path }, { cwd });
      expect(result.status).toBe("error");
      expect(text).toContain(path);
    }
  });
});

describe("only the approved file is read", () => {
  async function swapped(swap: (cwd: string) => void) {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "in"));
    mkdirSync(join(cwd, "out"));
    writeFileSync(join(cwd, "in/file"), "open");
    writeFileSync(join(cwd, "out/file"), "secret");
    const call = { file_path: "in/file" };
    const context = callContext({ cwd });
    const access = await readTool.access(call, cwd);
    swap(cwd);
    return { access, cwd, ...(await finish(readTool.run(call, context))) };
  }

  it("as `access` names it", async () => {
    const { access, cwd, text } = await swapped(() => undefined);
    expect(access).toEqual({ kind: "read", path: join(cwd, "in/file"), requested: join(cwd, "in/file") });
    expect(text).toBe("     1\topen\n");
  });

  it("not another, when the file became a link", async () => {
    const { result, text } = await swapped((cwd) => {
      rmSync(join(cwd, "in/file"));
      symlinkSync("../out/file", join(cwd, "in/file"));
    });
    expect(result.status).toBe("error");
    expect(text).not.toContain("secret");
  });

  it("not another, when its folder became a link", async () => {
    const { result, text } = await swapped((cwd) => {
      renameSync(join(cwd, "in"), join(cwd, "gone"));
      symlinkSync("out", join(cwd, "in"));
    });
    expect(result.status).toBe("error");
    expect(text).toBe("in/file changed its place while it was opened; it was not read.");
  });

  it("through a link the file that it leads to is what must be allowed", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "target"), "x");
    symlinkSync("target", join(cwd, "link"));
    expect(await readTool.access({ file_path: "link" }, cwd)).toMatchObject({ path: join(cwd, "target") });
    expect((await read({ file_path: "link" }, { cwd })).text).toBe("     1\tx\n");
  });
});

it("the arguments", () => {
  expect(readTool.input.safeParse({ file_path: "a", offset: 1, limit: 1 }).success).toBe(true);
  expect(readTool.input.safeParse({ file_path: "" }).success).toBe(false);
  expect(readTool.input.safeParse({ file_path: "a", offset: 0 }).success).toBe(false);
  expect(readTool.summary({ file_path: "a\nb" })).toBe("a …");
});
