import { statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bashTool } from "../../src/tools/bash.ts";
import { MARK_VARIABLE } from "../../src/protocol/process-mark.ts";
import { endProcesses, markedEnvironment, survivors } from "../../src/tools/processes.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { bash, callContext, finish, livingCommands, until } from "./support/call.ts";

const onLinux = process.platform === "linux";

describe("a call that takes too long", () => {
  it.each([
    ["SG-04: and its children", "(sleep 500 & sleep 500)"],
    ["SG-04: and a pipeline", "sleep 500 | sleep 501 | sleep 502"],
    ["SG-04: and a tree of shells", "bash -c 'bash -c \"sleep 500 & sleep 501\" & sleep 502' & wait"],
    ["SG-05: and ignores SIGTERM", "trap '' TERM; sleep 500; sleep 501"],
    ["and was stopped", "kill -STOP $$"],
    ...(onLinux
      ? [
          [
            "and what left the group",
            "setsid sleep 500 & setsid bash -c 'sleep 501 & sleep 502' & sleep 503",
          ],
          [
            "and what left the group and ignores SIGTERM",
            "setsid bash -c 'trap \"\" TERM; sleep 500; sleep 501' & wait",
          ],
          ["and what cleared its environment", "env -i sleep 500 & setsid env -i sleep 501 & wait"],
        ]
      : []),
  ])("%s is ended whole", async (_what, command) => {
    const context = callContext({ timeoutMs: 500 });
    const { result, text } = await finish(bashTool.run({ command: `echo begun; ${command}` }, context));
    expect(result).toMatchObject({ status: "timeout", truncated: false });
    expect(text).toBe("begun\nTimed out after 0.5 s; the command and what it had started were ended.");
    expect(livingCommands(context)).toEqual([]);
  });

  it("is ended after the time that its arguments name", async () => {
    const { text } = await bash("sleep 500", { timeout: 300 });
    expect(text).toContain("Timed out after 0.3 s");
  });

  it("is not waited for any longer than it lives", async () => {
    const { result, text } = await bash(
      "trap 'echo bye; exit 7' TERM; echo hi; while :; do sleep 0.01; done",
      {
        timeout: 500,
      },
    );
    expect(result).toMatchObject({ status: "timeout", exitCode: 7 });
    expect(text).toMatch(/^hi\n(.*\n)*bye\n/);
  });

  it("is ended although its output is not pulled", async () => {
    const context = callContext({ timeoutMs: 500 });
    const running = bashTool.run({ command: "yes" }, context);
    await running.next();
    await until(() => survivors(context.processMark).length === 0, "all are gone");
    expect((await finish(running)).result.status).toBe("timeout");
  });

  it("is judged by the context's clock alone", async () => {
    let elapse: (() => void) | undefined;
    const clock = {
      now: () => 0,
      active: () => 0,
      sleep: () => new Promise<void>((resolve) => (elapse = resolve)),
    };
    const context = callContext({ clock, timeoutMs: 1 });
    const running = finish(
      bashTool.run({ command: "echo a; sleep 0.3; echo b; sleep 500" }, context),
      ({ text }) => {
        if (text.includes("b")) elapse?.();
      },
    );
    expect((await running).result).toMatchObject({ status: "timeout" });
  });
});

describe("SG-01: a cancelled call", () => {
  it("ends everything it had started, and says so", async () => {
    const { context, abort } = cancellable();
    const running = finish(
      bashTool.run({ command: "echo a; sleep 500 & setsid sleep 501 & sleep 502" }, context),
      abort,
    );
    const { result, text } = await running;
    expect(result.status).toBe("cancelled");
    expect(text).toBe("a\nCancelled; the command and what it had started were ended.");
    expect(livingCommands(context)).toEqual([]);
  });

  it("before it began runs nothing", async () => {
    const { context, abort } = cancellable();
    abort();
    const { result } = await finish(bashTool.run({ command: `touch ${context.cwd}/ran` }, context));
    expect(result.status).toBe("cancelled");
    expect(() => statSync(`${context.cwd}/ran`)).toThrow("ENOENT");
  });

  it("in its first moment is ended too", async () => {
    const { context, abort } = cancellable();
    const running = finish(bashTool.run({ command: "sleep 500" }, context));
    abort();
    expect((await running).result.status).toBe("cancelled");
    expect(livingCommands(context)).toEqual([]);
  });

  it("that floods its output is ended too", async () => {
    const { context, abort } = cancellable();
    const { result } = await finish(bashTool.run({ command: "yes & yes >&2 & setsid yes" }, context), abort);
    expect(result.status).toBe("cancelled");
    expect(livingCommands(context)).toEqual([]);
  });

  it("leaves the calls beside it alone", async () => {
    const { context, abort } = cancellable();
    const other = finish(
      bashTool.run({ command: "sleep 1; echo whole" }, { ...context, toolUseId: "other", signal: never() }),
    );
    await finish(bashTool.run({ command: "echo a; sleep 500" }, context), abort);
    expect((await other).result).toMatchObject({ status: "ok", content: "whole\n" });
  });
});

describe("a call that is left early", () => {
  it("ends what it started", async () => {
    const context = callContext();
    const running = bashTool.run({ command: "echo a; sleep 500 & sleep 501" }, context);
    await running.next();
    await running.return(undefined as never);
    expect(livingCommands(context)).toEqual([]);
  });

  it("ends it although the shell is through", async () => {
    const context = callContext();
    const running = bashTool.run({ command: `sleep 500 & seq 300000; touch ${context.cwd}/done` }, context);
    await running.next();
    await running.return(undefined as never);
    expect(livingCommands(context)).toEqual([]);
  });

  it("before it was pulled starts nothing", async () => {
    const context = callContext();
    const running = bashTool.run({ command: `touch ${context.cwd}/ran` }, context);
    await running.return(undefined as never);
    expect(() => statSync(`${context.cwd}/ran`)).toThrow("ENOENT");
  });
});

describe("TX-01: a process left in the background does not hold the call:", () => {
  it.each([
    ["silent", "sleep 600 & echo done"],
    ["in its own session", "setsid sleep 600 & echo done"],
    ["printing now and then", "(while :; do echo x; sleep 0.05; done) & echo done"],
    ["flooding", "yes & echo done"],
    ["flooding stderr", "yes >&2 & echo done"],
  ])("%s", async (_what, command) => {
    const context = callContext({ timeoutMs: 30_000 });
    const { result, text } = await finish(bashTool.run({ command }, context));
    expect(result).toMatchObject({ status: "ok", exitCode: 0 });
    expect(text).toContain("done\n");
    expect(text).toContain(
      "[A process that it left running still held its output, which is no longer read.]",
    );
  });

  it("flooding, with a slow reader", async () => {
    const context = callContext({ timeoutMs: 30_000 });
    const running = bashTool.run({ command: "yes & echo done" }, context);
    const { result } = await finish(running, () => new Promise((resolve) => setTimeout(resolve, 20)));
    expect(result.status).toBe("ok");
  });

  it("with output of its own it is nothing to speak of", async () => {
    const context = callContext();
    const { result } = await finish(
      bashTool.run({ command: "sleep 600 >/dev/null 2>&1 & echo done" }, context),
    );
    expect(result.content).toBe("done\n");
    // Just after the fork it is still a copy of its shell.
    if (onLinux) await until(() => livingCommands(context).join() === "sleep 600", "it sleeps");
    expect(survivors(context.processMark)).toMatchObject([{ toolUseId: "call_1" }]);
  });

  it("what a process substitution prints after the shell is still read", async () => {
    expect((await bash("echo a > >(sleep 0.02; cat)")).text).toBe("a\n");
  });
});

describe("the end of a run", () => {
  it.runIf(onLinux)("SG-06: knows what left the group, of every call", async () => {
    const context = callContext();
    const ids = Array.from({ length: 20 }, (_, index) => `call_${index}`);
    for (const toolUseId of ids) await leave("setsid sleep 600 >/dev/null 2>&1 &", { ...context, toolUseId });
    const left = survivors(context.processMark);
    expect(left.map(({ toolUseId }) => toolUseId).toSorted()).toEqual(ids.toSorted());
  });

  it("SG-06: ends what left the group, of every call", async () => {
    const context = callContext();
    for (const toolUseId of ["a", "b", "c"])
      await leave("setsid sleep 600 >/dev/null 2>&1 &", { ...context, toolUseId });
    expect(await endProcesses(context.processMark)).toEqual([]);
    expect(survivors(context.processMark)).toEqual([]);
  });

  it("ends one call's and leaves another's", async () => {
    const context = callContext();
    await leave("sleep 600 >/dev/null 2>&1 &", { ...context, toolUseId: "a b%" });
    await leave("sleep 601 >/dev/null 2>&1 &", { ...context, toolUseId: "other" });
    await endProcesses(context.processMark, "a b%");
    expect(survivors(context.processMark)).toMatchObject([{ toolUseId: "other" }]);
  });

  it("does not know other runs' processes", async () => {
    const [one, other] = [callContext(), callContext()];
    await leave("sleep 600 >/dev/null 2>&1 &", one);
    expect(survivors(other.processMark)).toEqual([]);
    expect(survivors(one.processMark)).toHaveLength(1);
  });

  it("has nothing to do when all have gone", async () => {
    const context = callContext();
    await leave("sleep 0.1 >/dev/null 2>&1 &", context);
    await until(() => survivors(context.processMark).length === 0, "it has gone");
    expect(await endProcesses(context.processMark)).toEqual([]);
  });

  it.runIf(onLinux)("does not count those that have exited and were not collected", async () => {
    const context = callContext();
    // exec: the sleep that replaces the shell never collects the shell's child.
    await leave("(true & exec sleep 600) >/dev/null 2>&1 &", context);
    await until(() => livingCommands(context).join() === "sleep 600", "only the sleep is left");
    expect(survivors(context.processMark)).toHaveLength(1);
  });

  it("finds a process that forks all the time", async () => {
    const context = callContext();
    const restless = "f() { (sleep 0.01; f) & }; trap '' TERM; f";
    await leave(`setsid bash -c ${JSON.stringify(restless)} >/dev/null 2>&1 &`, context);
    expect(await endProcesses(context.processMark, undefined, 100)).toEqual([]);
  });
});

describe("the mark", () => {
  it("is added to the mark of a run around this one", () => {
    const outer = markedEnvironment({ A: "1" }, "outer", "call 1");
    expect(outer).toEqual({ A: "1", [MARK_VARIABLE]: "outer:call%201" });
    expect(markedEnvironment(outer, "inner", "x\0\ud800")[MARK_VARIABLE]).toBe(
      "outer:call%201 inner:x%00%EF%BF%BD",
    );
  });

  it.runIf(onLinux)("lets the outer run find what an inner one left", async () => {
    const context = callContext();
    const environment = markedEnvironment(context.environment, "outer-of-this-test", "call_0");
    await leave("sleep 600 >/dev/null 2>&1 &", { ...context, environment });
    expect(survivors("outer-of-this-test")).toMatchObject([{ toolUseId: "call_0" }]);
  });
});

it.runIf(onLinux)("a command has its own session, no terminal and no other call's pipes", async () => {
  const facts = [
    "sleep 0.2; readlink /proc/$$/fd/0",
    "ls -l /proc/$$/fd | grep -c linefeed-pipe",
    "cut -d' ' -f1,5,6,7 /proc/$$/stat",
  ];
  const calls = await Promise.all([1, 2, 3].map(() => bash(facts.join("; "))));
  for (const { stdout } of calls) {
    const [stdin, pipes, ids] = stdout.split("\n");
    expect({ stdin, pipes }).toEqual({ stdin: "/dev/null", pipes: "2" });
    const [pid, group, session, terminal] = (ids ?? "").split(" ");
    expect([group, session, terminal]).toEqual([pid, pid, "0"]);
  }
});

async function leave(command: string, context: ToolContext): Promise<void> {
  const { result } = await finish(bashTool.run({ command }, context));
  expect(result.status).toBe("ok");
}

function cancellable(): { context: ToolContext; abort: () => void } {
  const controller = new AbortController();
  return { context: callContext({ signal: controller.signal }), abort: () => controller.abort() };
}

function never(): AbortSignal {
  return new AbortController().signal;
}
