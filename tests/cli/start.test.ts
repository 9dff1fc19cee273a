import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLI, cleanEnv, temporaryFolder } from "../support/cli.ts";

/** Writes down which of Node's own modules have been loaded when the first line is printed, and ends. */
const LIST_MODULES = `
const fs = require("fs");
const { writeSync } = fs;
fs.writeSync = (fd, text, ...more) => {
  const written = writeSync(fd, text, ...more);
  if (fd !== 1 && !String(text).startsWith('{"type":"init"')) return written;
  fs.writeFileSync(process.env.MODULES_FILE, process.moduleLoadList.join("\\n"));
  process.reallyExit(0);
};
`;

// Each of these takes from half a millisecond to some: seen in no profile, and in every start.
it("no module of Node's that is not needed is loaded before the first line", () => {
  const folder = temporaryFolder();
  const [hook, modules] = [join(folder, "hook.cjs"), join(folder, "modules.txt")];
  writeFileSync(hook, LIST_MODULES);
  const args = ["-r", hook, CLI, "-p", "x", "--json", "--base-url", "http://127.0.0.1:9"];
  const env = cleanEnv({ ANTHROPIC_API_KEY: "k", MODULES_FILE: modules });
  execFileSync(process.execPath, args, { env, stdio: "ignore" });
  const loaded = readFileSync(modules, "utf8").split("\n");
  expect(loaded).toContain("NativeModule fs");
  const avoided = ["perf_hooks", "net", "http", "child_process", "worker_threads", "crypto", "zlib"];
  expect(avoided.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
});
