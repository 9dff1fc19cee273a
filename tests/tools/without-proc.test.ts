import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { bashTool } from "../../src/tools/bash.ts";
import { endProcesses, survivors } from "../../src/tools/processes.ts";
import type * as ProcessTable from "../../src/tools/process-table.ts";
import { readTool } from "../../src/tools/read.ts";
import { bash, callContext, finish, temporaryFolder, until } from "./support/call.ts";

// As on a system without /proc: Node's own pipes, process groups, paths compared by device and inode.
vi.mock("../../src/tools/pipes.ts", () => ({ makePipes: async () => undefined }));
vi.mock("../../src/tools/process-table.ts", async (original) => ({
  ...(await original<typeof ProcessTable>()),
  hasProcessTable: false,
}));

describe("without /proc", () => {
  it("a command's output is whole", async () => {
    const { stdout, stderr, result } = await bash("seq 50000; echo e >&2; exit 4");
    expect({ end: stdout.slice(-6), stderr }).toEqual({ end: "50000\n", stderr: "e\n" });
    expect(result).toMatchObject({ status: "error", exitCode: 4 });
  });

  it("what a stalled reader had not taken at the exit is not lost", async () => {
    const context = callContext();
    const command = `printf a; sleep 0.1; head -c 400000 /dev/zero | tr '\\0' x; sleep 600 & echo end`;
    const running = bashTool.run({ command }, context);
    const first = await running.next();
    await new Promise((resolve) => setTimeout(resolve, 800));
    const rest = await finish(running);
    expect((first.done ? "" : first.value.text) + rest.stdout).toBe(`a${"x".repeat(400_000)}end\n`);
  });

  it("TX-01: a flooding background process does not hold the call", async () => {
    expect((await bash("yes & echo done", { timeoutMs: 30_000 })).text).toContain("done\n");
  });

  it.each([
    ["SG-04", "(sleep 500 & sleep 501)"],
    ["SG-05", "trap '' TERM; sleep 500; sleep 501"],
  ])("%s: a call that takes too long is ended with its group", async (_case, command) => {
    const context = callContext({ timeoutMs: 500 });
    const { result } = await finish(bashTool.run({ command }, context));
    expect(result.status).toBe("timeout");
    await until(() => survivors(context.processMark).length === 0, "the group is empty");
  });

  it("what was left in a group is known and ended", async () => {
    const context = callContext();
    const command = "sleep 600 >/dev/null 2>&1 &";
    await finish(bashTool.run({ command }, context));
    await finish(bashTool.run({ command: "true" }, { ...context, toolUseId: "call_2" }));
    expect(survivors(context.processMark)).toMatchObject([{ toolUseId: "call_1", command }]);
    expect(survivors(context.processMark, "call_2")).toEqual([]);
    expect(await endProcesses(context.processMark)).toEqual([]);
    expect(survivors(context.processMark)).toEqual([]);
  });

  it("a file whose folder became a link is not read", async () => {
    const cwd = temporaryFolder();
    for (const name of ["in", "out"]) mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, "in/file"), "open");
    writeFileSync(join(cwd, "out/file"), "secret");
    const call = { file_path: "in/file" };
    const context = callContext({ cwd });
    await readTool.access(call, cwd);
    expect((await finish(readTool.run(call, context))).text).toBe("     1\topen\n");
    renameSync(join(cwd, "in"), join(cwd, "gone"));
    symlinkSync("out", join(cwd, "in"));
    expect((await finish(readTool.run(call, context))).text).toContain("changed its place");
  });
});
