import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { ofType, resultOf, runCli, scriptFile, temporaryFolder } from "../support/cli.ts";

const calling = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});

it.each([["pretty"], ["text"], ["json"], ["jsonl"]])(
  "EN-03: what no rule allows is denied in every format, without a question: %s",
  async (format) => {
    const cwd = temporaryFolder();
    const script = scriptFile([calling("touch made"), "Done."]);
    const run = await runCli(["-p", "x", "--output-format", format, "--fake", script, "--fail-on-denied"], {
      cwd,
    });
    expect(run.code).toBe(4);
    expect(() => readFileSync(join(cwd, "made"))).toThrow(/ENOENT/);
    const seen = run.stdout.toString("utf8") + run.stderr;
    expect(seen).toMatch(/denied/);
    if (format !== "jsonl") return;
    expect(ofType(run.events, "notice").map(({ code }) => code)).toContain("permission_denied");
    expect(ofType(run.events, "tool_end")[0]?.status).toBe("denied");
    expect(resultOf(run).permission_denials).toMatchObject([
      { name: "Bash", input: { command: "touch made" } },
    ]);
  },
);

it("TX-05: a service may outlive the run that started it, and is named in the last word", async () => {
  const cwd = temporaryFolder();
  const serve = "(while sleep 0.02; do echo tick; done) > service.log 2>&1 < /dev/null & echo started";
  const script = scriptFile([calling(serve), "It runs."]);
  const run = await runCli(
    ["-p", "x", "--json", "--fake", script, "--allowed-tools", "Bash", "--keep-children"],
    { cwd },
  );
  const left = resultOf(run).children_left;
  try {
    expect(run.code).toBe(0);
    expect(left.length).toBeGreaterThan(0);
    const log = () => readFileSync(join(cwd, "service.log"), "utf8").length;
    const then = log();
    while (log() <= then + 10) await delay(20);
  } finally {
    for (const { pid } of left) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
