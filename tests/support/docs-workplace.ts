// A place in which the command lines of the documentation run as they would for a reader.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const COPIED = ["src", "docs", "examples", "schemas", "tests/fixtures", "README.md", "package.json"];
/** The build is not copied, since it is large and nothing writes to it. */
const LINKED = ["dist", "node_modules"];

export interface Workplace {
  /** A copy of the repository, under git, with one commit. */
  folder: string;
  /** With `linefeed` on the path, and a `codex` that plays a recording. */
  path: string;
  remove(): void;
}

export function createWorkplace(): Workplace {
  const root = mkdtempSync(join(tmpdir(), "linefeed-docs-"));
  const folder = join(root, "linefeed");
  const bin = join(root, "bin");
  mkdirSync(folder);
  mkdirSync(bin);
  for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true });
  for (const name of LINKED) symlinkSync(resolve(name), join(folder, name));
  symlinkSync(resolve("dist/bin/linefeed.js"), join(bin, "linefeed"));
  // What the real one printed once, whatever it is asked.
  const recorded = resolve("tests/fixtures/dialects/codex-tools.jsonl");
  writeFileSync(join(bin, "codex"), `#!/bin/sh\nexec cat '${recorded}'\n`, { mode: 0o755 });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Docs", "-c", "user.email=docs@example.com", ...args], {
      cwd: folder,
    });
  git("init", "--quiet");
  git("add", "README.md", "package.json", "src");
  git("commit", "--quiet", "--message", "All there is");
  return {
    folder,
    path: `${bin}:${process.env["PATH"]}`,
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A block of commands in a page. */
export interface Block {
  /** Page and line, to find it again. */
  where: string;
  commands: string;
  /** `<!-- exit 2 -->` before the block says that it is meant to fail. */
  exitCode: number;
}

const BLOCK = /(?:<!-- exit (\d+) -->\s*)?^( *)```sh\n([^]*?)^ *```$/gm;

/** The blocks of commands in a page: everything that is fenced as `sh`. */
export function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(BLOCK)].map(({ index, 1: exitCode, 2: indent = "", 3: commands = "" }) => ({
    where: `${page}:${text.slice(0, index).split("\n").length}`,
    commands: commands.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    exitCode: Number(exitCode ?? 0),
  }));
}
