import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runShell } from "../support/cli.ts";
import { createWorkplace, type Workplace } from "../support/docs-workplace.ts";

let workplace: Workplace;
beforeEach(() => {
  workplace = createWorkplace();
});
afterEach(() => workplace.remove());

const pipeline = () =>
  runShell("examples/ci-pipeline.sh", { cwd: workplace.folder, env: { PATH: workplace.path } });

it("the pipeline passes, stage by stage, without a model", async () => {
  const { code, stdout, stderr } = await pipeline();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const stages = readFileSync("examples/ci-pipeline.sh", "utf8").match(/^stage \S+/gm) ?? [];
  expect(stages.length).toBeGreaterThan(10);
  expect(stdout.toString("utf8")).toBe(stages.map((stage) => `${stage.replace("stage", "ok  ")}\n`).join(""));
});

it("the pipeline stops at the first stage that is not as it should be", async () => {
  const script = join(workplace.folder, "examples/scripts/recorded-fix.json");
  const forgotten = readFileSync(script, "utf8").replace('world\\\\\\"}!`', 'world\\\\\\"}?`');
  writeFileSync(script, forgotten);
  const { code, stdout, stderr } = await pipeline();
  expect({ code, stderr }).toEqual({ code: 1, stderr: "FAIL test-after: exit code 1 instead of 0\n" });
  expect(stdout.toString("utf8")).toMatch(/ok {3}fix\n$/);
});
