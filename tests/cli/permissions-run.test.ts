import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ofType, resultOf, runCli, scriptFile, temporaryFolder } from "../support/cli.ts";

// The rules as the built command obeys them.

const bash = (command: string) => ({ type: "tool_use" as const, name: "Bash", input: { command } });

it("tells a broad rule once, right after init, and only where rules decide", async () => {
  const script = scriptFile([{ content: [{ type: "text", text: "Done." }] }]);
  const args = ["-p", "x", "--fake", script, "--json", "--allowed-tools", "Bash(git *),Bash(git *)"];
  const run = await runCli([...args, "--allowed-tools", "Bash(ls *) Bash(env *)"]);
  expect(run.events.slice(0, 4).map(({ type }) => type)).toEqual(["init", "notice", "notice", "turn_start"]);
  expect(ofType(run.events, "notice").map(({ code, level, message }) => [code, level, message])).toEqual([
    ["broad_rule", "warning", expect.stringContaining("Bash(git *) is as good as Bash")],
    ["broad_rule", "warning", expect.stringContaining("Bash(env *) is as good as Bash")],
  ]);
  expect(run.stderr).toBe("");
  for (const more of [
    ["--dangerously-skip-permissions"],
    ["--permission-mode", "plan"],
    ["--tools", "Read"],
  ]) {
    expect(ofType((await runCli([...args, ...more])).events, "notice")).toEqual([]);
  }
});

it("runs a chain of which each part is allowed; a denial names the part that is not, and the rule to copy", async () => {
  const command = "echo one && printf '%s\\n' 'a b' 2>&1 | cat";
  const script = scriptFile([{ content: [bash(command)] }, { content: [{ type: "text", text: "Done." }] }]);
  const run = (...rules: string[]) =>
    runCli(["-p", "x", "--fake", script, "--json", "--allowed-tools", rules.join(",")]);
  const denied = await run("Bash(echo *)", "Bash(cat)");
  const reason = resultOf(denied).permission_denials[0]?.reason ?? "";
  expect(reason).toContain("no rule allows the command printf '%s\\n' 'a b' (command 2 of 3 in it)");
  const rule = /the rule (Bash\(.*\)) in --allowed-tools/.exec(reason)?.[1] ?? "";
  const allowed = await run("Bash(echo *)", "Bash(cat)", rule);
  expect(ofType(allowed.events, "tool_end").map(({ status, content }) => [status, content])).toEqual([
    ["ok", "one\na b\n"],
  ]);
});

it("keeps linefeed's own state from being read, wherever it is", async () => {
  const cwd = realpathSync(temporaryFolder());
  mkdirSync(join(cwd, "state", "linefeed"), { recursive: true });
  const file = join(cwd, "state", "linefeed", "events.jsonl");
  writeFileSync(file, "what was said\n");
  const script = scriptFile([
    { content: [{ type: "tool_use", name: "Read", input: { file_path: file } }] },
    { content: [{ type: "text", text: "Done." }] },
  ]);
  const args = ["-p", "x", "--fake", script, "--json", "--allowed-tools"];
  for (const env of [
    { LINEFEED_STATE_DIR: "state" },
    { LINEFEED_STATE_DIR: undefined, XDG_STATE_HOME: join(cwd, "state") },
  ]) {
    const denied = await runCli([...args, "Read"], { cwd, env });
    expect(resultOf(denied).permission_denials).toMatchObject([
      { reason: expect.stringContaining("it belongs to linefeed's own state") },
    ]);
    const allowed = await runCli([...args, "Read(state/linefeed/**)"], { cwd, env });
    expect(resultOf(allowed).permission_denials).toEqual([]);
  }
});
