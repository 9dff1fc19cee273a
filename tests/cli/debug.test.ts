import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { joined, resultOf, runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { ask, provider } from "../support/provider.ts";

describe("--debug", () => {
  it("tells on stderr of the run, of each request and of each event, and leaves stdout as it is", async () => {
    const server = await provider(
      { status: 529, headers: { "request-id": "req_busy", "retry-after": "0" }, body: "busy" },
      answer().text("Hello.").done(),
    );
    const run = await ask(server, ["--debug"]);
    expect(lint(run.stdout)).toEqual([]);
    expect(joined(run.events, "text_delta")).toBe("Hello.");
    const host = new URL(server.url).host;
    const lines = run.stderr.trimEnd().split("\n");
    for (const line of lines) expect(line).toMatch(/^linefeed debug \d+\.\d{3} (run|http|event): ./);
    expect(run.stderr).toContain(`request 1 to ${host}`);
    expect(run.stderr).toMatch(/request 1: HTTP 529 after \d+ ms; .*request-id: req_busy/);
    expect(run.stderr).toMatch(/request 2: HTTP 200 after \d+ ms/);
    for (const type of ["init", "retry", "message", "result"])
      expect(run.stderr).toContain(`{"type":"${type}"`);
    expect(run.stderr).not.toContain("text_delta");
  });

  it("takes no prompt for its file, and appends to one that is tied to it", async () => {
    const file = join(temporaryFolder(), "debug.log");
    const script = scriptFile(["One.", "Two."]);
    const first = await runCli([`--debug=${file}`, "hello there", "--fake", script]);
    expect([first.code, first.stdout.toString(), first.stderr]).toEqual([0, "One.\n", ""]);
    const size = statSync(file).size;
    await runCli([`--debug=${file}`, "hello there", "--fake", script]);
    expect(statSync(file).size).toBeGreaterThan(size);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toContain('"prompt":"hello there"');
    const bare = await runCli(["--debug", "hello there", "--fake", script]);
    expect(bare.stdout.toString()).toBe("One.\n");
  });

  it("is refused with a file that cannot be written, before anything runs", async () => {
    const run = await runCli(["--debug=/dev/null/x", "-p", "x", "--fake", scriptFile(["One."]), "--json"]);
    expect([run.code, resultOf(run).error?.code]).toEqual([2, "config"]);
    expect(run.stderr).toContain("--debug cannot write /dev/null/x");
  });

  it("PU-07: costs no time where nobody reads stderr", async () => {
    const script = scriptFile({ chunk_characters: 1, answers: [{ content: calls(400) }, "Done."] });
    const run = await runShell(
      `$LINEFEED --debug -p x --fake ${script} --json --allowed-tools Bash 2> >(exec sleep 5) | tail -1`,
    );
    expect(JSON.parse(run.stdout.toString())).toMatchObject({ type: "result", status: "ok", text: "Done." });
  });
});

/** Calls that end at once, each with a few events. */
function calls(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    type: "tool_use" as const,
    name: "Nothing",
    input: { index, text: "x".repeat(300) },
  }));
}
