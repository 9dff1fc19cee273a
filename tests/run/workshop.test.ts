import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { ActiveClock } from "../../src/run/active-clock.ts";
import type { RunOptions } from "../../src/run/options.ts";
import type { RunSettings } from "../../src/run/settings.ts";
import { Workshop } from "../../src/run/workshop.ts";
import { markedEnvironment } from "../../src/tools/processes.ts";

const MARK = `test${process.pid}`;
const options = {
  session: {},
  cwd: "/",
  addDirs: [],
  secretFolders: [],
  keepChildren: false,
  toolTimeoutMs: 1000,
  environment: {},
} as unknown as RunOptions;
const settings: RunSettings = {
  model: "test",
  systemPrompt: undefined,
  appendSystemPrompt: undefined,
  permissionMode: "default",
  allow: [],
  deny: [],
};

it("ends the processes before it removes the folder that they write to", async () => {
  const workshop = new Workshop(options, settings, new ActiveClock(), MARK);
  const folder = workshop.context.outputDirectory();
  const writer = `while :; do for n in 1 2 3 4 5 6 7 8 9; do echo x > "$0/$n.$$.$RANDOM"; done; done`;
  const env = markedEnvironment(process.env, MARK, "call");
  for (let n = 0; n < 4; n += 1)
    spawn("bash", ["-c", writer, folder], { env, detached: true, stdio: "ignore" }).unref();
  while (readdirSync(folder).length < 20) await new Promise((resolve) => setTimeout(resolve, 20));
  const { childrenLeft, notices } = await workshop.close();
  expect(childrenLeft).toEqual([]);
  expect(notices).toMatchObject([{ code: "children_ended" }]);
  expect(existsSync(folder)).toBe(false);
});

it("says what it cannot clear up, and never rejects", async () => {
  const workshop = new Workshop({ ...options, keepChildren: true }, settings, new ActiveClock(), "nobody");
  expect(await workshop.close()).toEqual({ childrenLeft: [], notices: [] });
});
