import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint, parseLines } from "../support/lint.ts";

const bash = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});

/** Runs a Python program that has the pseudo-terminal tools at hand and `LINEFEED` as the command's words. */
function python(program: string, cwd: string) {
  const file = join(cwd, "program.py");
  writeFileSync(
    file,
    `import os, pty, select, signal, subprocess, sys, time\nLINEFEED = os.environ["LINEFEED"].split()\n${program}`,
  );
  return runShell(`python3 ${file}`, { cwd });
}

describe("a terminal", () => {
  it("FR-10: on a terminal there is no colour and no control character between the lines either", async () => {
    const folder = temporaryFolder();
    const script = scriptFile([bash("printf '\\033[31mred\\033[0m'"), "done"]);
    const run = await python(
      `
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(FORCE_COLOR="1", TERM="xterm-256color")
    os.execvp(LINEFEED[0], LINEFEED + ["-p", "x", "--json", "--allowed-tools", "Bash", "--fake", "${script}"])
data = b""
while True:
    try: part = os.read(fd, 65536)
    except OSError: break
    if not part: break
    data += part
sys.stdout.buffer.write(data.replace(b"\\r\\n", b"\\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`,
      folder,
    );
    expect(run.code).toBe(0);
    expect(lint(run.stdout)).toEqual([]);
  });

  it("IN-06: in the background of an interactive shell it never reads the terminal, and so is never stopped", async () => {
    const folder = temporaryFolder();
    const script = scriptFile(["done"]);
    const run = await python(
      `
pid, fd = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
command = " ".join(LINEFEED) + " -p hi --json --fake ${script} > out & wait $!; echo code=$?; exit\\n"
os.write(fd, command.encode())
data = b""
while True:
    try: part = os.read(fd, 65536)
    except OSError: break
    if not part: break
    data += part
os.waitpid(pid, 0)
sys.stdout.buffer.write(data)`,
      folder,
    );
    expect(run.stdout.toString()).toContain("code=0\r\n");
    expect(run.stdout.toString()).not.toContain("Stopped");
    expect(lint(readFileSync(join(folder, "out")))).toEqual([]);
  });

  it("a terminal that takes nothing any more does not hold the run: the second Ctrl-C ends it", async () => {
    const folder = temporaryFolder();
    const script = scriptFile(["x ".repeat(50_000)]);
    const run = await python(
      `
pid, fd = pty.fork()
if pid == 0:
    os.execvp(LINEFEED[0], LINEFEED + ["-p", "x", "--output-format", "pretty", "--fake", "${script}"])
data = b""
while b"x x" not in data: data += os.read(fd, 100)
for _ in range(2):
    time.sleep(0.5)
    os.kill(pid, signal.SIGINT)
for _ in range(200):
    done, status = os.waitpid(pid, os.WNOHANG)
    if done: print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else status); sys.exit()
    time.sleep(0.1)
os.kill(pid, signal.SIGKILL)
print("stuck")`,
      folder,
    );
    expect(run.stdout.toString()).toBe("2\n");
  });

  it("SG-03: a terminal that is closed ends the run and its calls, with a last word in the file", async () => {
    const folder = temporaryFolder();
    const script = scriptFile([bash("echo $$ > pid; exec sleep 94"), "never"]);
    const run = await python(
      `
pid, fd = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", "exec " + " ".join(LINEFEED) + " -p x --json --allowed-tools Bash --fake ${script} > out"])
while not (os.path.exists("pid") and os.path.getsize("pid")): time.sleep(0.05)
os.close(fd)
status = os.waitpid(pid, 0)[1]
print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else status)
try:
    os.kill(int(open("pid").read()), 0); print("alive")
except ProcessLookupError: print("gone")`,
      folder,
    );
    expect(run.stdout.toString()).toBe("1\ngone\n");
    const stdout = readFileSync(join(folder, "out"));
    expect(lint(stdout)).toEqual([]);
    expect(parseLines(stdout).at(-1)).toMatchObject({ type: "result", exit_code: 129, signal: "SIGHUP" });
  });

  it("SG-03: a parent that is killed leaves nobody behind", async () => {
    const folder = temporaryFolder();
    const script = scriptFile([bash("echo $$ > pid; exec sleep 93"), "never"]);
    const run = await python(
      `
parent = os.fork()
if parent == 0:
    p = subprocess.Popen(LINEFEED + ["-p", "x", "--json", "--heartbeat", "300ms", "--allowed-tools", "Bash", "--fake", "${script}"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    open("run", "w").write(str(p.pid))
    time.sleep(100)
while not (os.path.exists("pid") and os.path.getsize("pid")): time.sleep(0.05)
os.kill(parent, signal.SIGKILL); os.waitpid(parent, 0)
def alive(name):
    try: return open("/proc/%s/stat" % open(name).read().strip()).read().split(") ")[1][0] != "Z"
    except OSError: return False
for _ in range(200):
    if not alive("run") and not alive("pid"): print("gone"); sys.exit()
    time.sleep(0.1)
print("alive")`,
      folder,
    );
    expect(run.stdout.toString()).toBe("gone\n");
  });

  it("EN-01, EN-02: without a terminal, a session of its own and hardly any environment all is the same", async () => {
    const calls = Array.from({ length: 5 }, (_, n) => ({
      type: "tool_use" as const,
      name: "Bash",
      input: { command: `echo ${n}` },
    }));
    const script = scriptFile([{ content: calls }, "done"]);
    const run = await runShell(
      `env -i PATH="$PATH" setsid $LINEFEED -p x --json --allowed-tools Bash --fake ${script} < /dev/null`,
    );
    expect(run.code).toBe(0);
    expect(run.stderr).toBe("");
    expect(lint(run.stdout)).toEqual([]);
  });
});
