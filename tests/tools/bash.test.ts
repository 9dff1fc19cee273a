import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bashTool } from "../../src/tools/bash.ts";
import { bash, callContext, finish, temporaryFolder } from "./support/call.ts";

describe("a command", () => {
  it("gives its output to the reader and to the model", async () => {
    const { stdout, stderr, result } = await bash("echo out; echo err >&2");
    expect({ stdout, stderr }).toEqual({ stdout: "out\n", stderr: "err\n" });
    expect(result).toMatchObject({ status: "ok", exitCode: 0, truncated: false, outputFile: null });
    expect(result.content).toMatch(/^(out\nerr|err\nout)\n$/);
  });

  it("that fails says with which code", async () => {
    const { result } = await bash("echo no; exit 3");
    expect(result).toMatchObject({ status: "error", exitCode: 3, content: "no\nExit code 3" });
  });

  it("that dies from a signal says from which", async () => {
    const { result } = await bash("kill -9 $$");
    expect(result).toMatchObject({
      status: "error",
      exitCode: null,
      content: "(no output)\nKilled by SIGKILL",
    });
  });

  it("without output says so, since providers refuse an empty text", async () => {
    expect((await bash("true")).result.content).toBe("(no output)");
    expect((await bash("echo")).result.content).toBe("(no output but white space)");
  });

  it("may begin with a dash", async () => {
    const { result } = await bash("-x 2>/dev/null || echo went on");
    expect(result).toMatchObject({ status: "ok", content: "went on\n" });
  });

  it("runs in the working folder", async () => {
    const cwd = temporaryFolder();
    expect((await bash("pwd -P", { cwd })).stdout).toBe(`${cwd}\n`);
  });

  it("can open its own stdout and stderr by path", async () => {
    const { stdout, stderr, result } = await bash(
      "echo a | tee /dev/stderr; echo b >/dev/stderr; echo c >/dev/fd/1",
    );
    expect(result.status).toBe("ok");
    expect({ stdout, stderr }).toEqual({ stdout: "a\nc\n", stderr: "a\nb\n" });
  });

  it("keeps the order in which the two streams arrived", async () => {
    const { result } = await bash("echo 1; sleep 0.2; echo 2 >&2; sleep 0.2; echo 3");
    expect(result.content).toBe("1\n2\n3\n");
  });

  it("finds its shell without a PATH", async () => {
    const environment = { PATH: "" };
    expect((await bash("echo hi", { environment })).result).toMatchObject({ status: "ok", content: "hi\n" });
  });

  it("EN-01: runs with an empty environment", async () => {
    expect((await bash("echo hi", { environment: {} })).result.content).toBe("hi\n");
  });

  it("EN-02: five at once take no longer than they must, without a terminal", async () => {
    const calls = await Promise.all([1, 2, 3, 4, 5].map((n) => bash(`sleep 0.3; echo ${n}; tty`)));
    expect(calls.map(({ stdout }) => stdout)).toEqual([1, 2, 3, 4, 5].map((n) => `${n}\nnot a tty\n`));
  });
});

describe("what cannot be started is a result, not a throw:", () => {
  it("a working folder that is gone", async () => {
    const cwd = join(temporaryFolder(), "gone");
    mkdirSync(cwd);
    const context = callContext({ cwd });
    rmSync(cwd, { recursive: true });
    const { result } = await finish(bashTool.run({ command: "echo hi" }, context));
    expect(result).toMatchObject({ status: "error", exitCode: null });
    expect(result.content).toContain(cwd);
  });

  it("a NUL in the command", async () => {
    const { result } = await bash("echo a\0b");
    expect(result).toMatchObject({ status: "error", exitCode: null });
    expect(result.content).toContain("NUL");
  });

  it("a command too long for the system", async () => {
    const { result } = await bash(`: ${"x".repeat(8 * 1024 * 1024)}`);
    expect(result).toMatchObject({ status: "error", exitCode: null });
    expect(result.content).toContain("too long");
  });
});

describe("TX-02: nothing waits for a person:", () => {
  it.each([
    ["reading stdin", "cat; echo end", "end\n"],
    ["reading the terminal", "cat </dev/tty || echo refused", "refused\n"],
    ["an editor", "$EDITOR; $VISUAL; $GIT_EDITOR; echo $?", "1\n"],
    ["a pager", "echo text | $PAGER; echo text | $GIT_PAGER", "text\ntext\n"],
  ])("%s", async (_what, command, stdout) => {
    expect((await bash(command, { timeoutMs: 20_000 })).stdout).toBe(stdout);
  });

  it("git log and git commit without a message", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "a"), "a");
    const git = "git -c user.name=a -c user.email=a@example.org";
    const { result, text } = await bash(
      `git init -q . && git add a && ${git} commit -qm first && git log --oneline && ${git} commit --amend`,
      { cwd, timeoutMs: 30_000 },
    );
    expect(result.status).toBe("error");
    expect(text).toContain("first");
  });
});

describe("the arguments and the summary", () => {
  it("refuse what is not known", () => {
    expect(bashTool.input.safeParse({ command: "ls" }).success).toBe(true);
    expect(bashTool.input.safeParse({ command: "" }).success).toBe(false);
    expect(bashTool.input.safeParse({ command: "ls", run_in_background: true }).success).toBe(false);
    expect(bashTool.input.safeParse({ command: "ls", timeout: 0 }).success).toBe(false);
    expect(bashTool.input.safeParse({ command: "ls", timeout: 3_600_001 }).success).toBe(false);
  });

  it("show the command in one short line without control characters", () => {
    expect(bashTool.summary({ command: "\n  ls -l\u001b[31m\u2028x" })).toBe("ls -l [31m x");
    expect(bashTool.summary({ command: "a\nb" })).toBe("a …");
    for (let length = 115; length < 125; length += 1) {
      const summary = bashTool.summary({ command: `${"x".repeat(length)}🙂 and more text` });
      expect(summary.length).toBeLessThanOrEqual(120);
      expect(summary.isWellFormed()).toBe(true);
    }
  });

  it("ask for the command to be allowed", async () => {
    expect(await bashTool.access({ command: "ls" }, "/")).toEqual({ kind: "execute", command: "ls" });
  });
});
