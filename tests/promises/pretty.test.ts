import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { screen } from "../render/support.ts";

const bash = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});
const SLOW = [bash("echo begun; sleep 1.5; echo over"), "All is well."];

/** Runs the command on a terminal of 60 columns, with `keys` typed once `after` is on the screen. */
async function onTerminal(
  args: string,
  env: Record<string, string> = {},
  typing?: { after: string; keys: string },
) {
  const folder = temporaryFolder();
  const file = join(folder, "terminal.py");
  writeFileSync(
    file,
    `
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
    os.environ.update(${JSON.stringify({ TERM: "xterm-256color", ...env })})
    os.execvp("sh", ["sh", "-c", "exec $LINEFEED " + ${JSON.stringify(args)}])
data, typed = b"", ${typing ? "False" : "True"}
while True:
    try: part = os.read(fd, 65536)
    except OSError: break
    if not part: break
    data += part
    if not typed and ${JSON.stringify(typing?.after ?? "")}.encode() in data:
        typed = True
        os.write(fd, ${JSON.stringify(typing?.keys ?? "")}.encode())
sys.stdout.buffer.write(data.replace(b"\\r\\n", b"\\n"))
status = os.waitpid(pid, 0)[1]
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))`,
  );
  const { code, stdout, stderr } = await runShell(`python3 ${file}`, { cwd: folder });
  expect(stderr).toBe("");
  return { code, output: stdout.toString("utf8") };
}

describe("pretty on a terminal", () => {
  it("is the default there, with colour and a spinner that leaves nothing behind", async () => {
    const { code, output } = await onTerminal(`-p go --allowed-tools Bash --fake ${scriptFile(SLOW)}`);
    expect(code).toBe(0);
    expect(output).toContain("\u001b[32m✔\u001b[39m");
    expect(output).toMatch(/\r\u001b\[2K[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] 1 s · 1 line · Bash echo begun/);
    const rows = screen(output).split("\n").slice(1);
    expect(rows.map((row) => row.replace(/\d+(\.\d+)? m?s/, "TIME"))).toEqual([
      "",
      "❯ go",
      "",
      "⏺ Bash echo begun; sleep 1.5; echo over",
      "  begun",
      "  over",
      "  ✔ TIME",
      "",
      "● All is well.",
      "",
      "✔ done, exit code 0 · TIME · 2 steps · 15 tokens (0 in, 15",
      "  out)",
    ]);
  });

  it("NO_COLOR takes the colour and keeps the spinner; a dumb terminal gets neither", async () => {
    const args = `-p go --allowed-tools Bash --fake ${scriptFile(SLOW)}`;
    const plain = await onTerminal(args, { NO_COLOR: "1" });
    expect(plain.output).not.toMatch(/\u001b\[\d+m/);
    expect(plain.output).toContain("⠋");
    const dumb = await onTerminal(args, { TERM: "dumb" });
    expect(dumb.output).not.toContain("\u001b");
  });

  it("Ctrl-C while the spinner turns leaves the end of the run as the last row", async () => {
    const script = scriptFile([bash("sleep 91"), "never"]);
    const typing = { after: "⠙", keys: "\u0003" };
    const { code, output } = await onTerminal(`-p go --allowed-tools Bash --fake ${script}`, {}, typing);
    expect(code).toBe(130);
    expect(screen(output)).toMatch(
      /\n {2}✘ cancelled · .*\n\n✘ stopped by Ctrl-C, exit code 130 · [^]*out\)$/,
    );
    expect(screen(output)).not.toMatch(/\^C|⠋|⠙/);
  });
});

describe("pretty in a pipe", () => {
  const args = (more: string[] = []) => [
    "-p",
    "go",
    "--output-format",
    "pretty",
    "--allowed-tools",
    "Bash",
    "--fake",
    scriptFile([bash("printf '\\033[31mred'"), "x ".repeat(60)]),
    ...more,
  ];

  it("has neither colour nor spinner, and the width of COLUMNS", async () => {
    const { code, stdout, stderr } = await runCli(args(), { env: { COLUMNS: "30" } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const text = stdout.toString("utf8");
    expect(text).not.toContain("\u001b");
    expect(text).toContain("\n  ␛[31mred\n");
    expect(text.split("\n").filter((row) => row.length > 30)).toEqual([]);
  });

  it("FORCE_COLOR gives it colour", async () => {
    const { stdout } = await runCli(args(), { env: { FORCE_COLOR: "1", NO_COLOR: "1" } });
    expect(stdout.toString("utf8")).toContain("\u001b[1mgo\u001b[22m");
    const off = await runCli(args(), { env: { FORCE_COLOR: "0" } });
    expect(off.stdout.toString("utf8")).not.toContain("\u001b");
  });

  it("says on stderr only what stdout cannot say", async () => {
    const limited = await runCli(args(["--max-steps", "1"]));
    expect({ code: limited.code, stderr: limited.stderr }).toEqual({ code: 3, stderr: "" });
    expect(limited.stdout.toString("utf8")).toContain("Raise --max-steps");
    const wrong = await runCli(args(["--max-steps", "many"]));
    expect({ code: wrong.code, stdout: wrong.stdout.length }).toEqual({ code: 2, stdout: 0 });
    expect(wrong.stderr).toMatch(/^linefeed: /);
  });

  it("a reader who leaves ends the run with 141", async () => {
    const script = scriptFile([bash("echo one; sleep 60"), "never"]);
    const run = await runShell(
      `$LINEFEED -p go --output-format pretty --heartbeat 200ms --allowed-tools Bash --fake ${script} | head -1; echo "\${PIPESTATUS[0]}"`,
    );
    expect(run.stdout.toString("utf8")).toMatch(/^◆ linefeed .*\n141\n$/);
  });
});
