import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { runShell, temporaryFolder } from "../support/cli.ts";
import { languagesIn, programsIn, runSdkProgram } from "../support/docs-programs.ts";
import { createWorkplace, type Workplace } from "../support/docs-workplace.ts";
import { provider, providerEnv } from "../support/provider.ts";

// The programs of the README as they stand there; its command lines are in commands.test.ts.

let workplace: Workplace;
beforeAll(() => {
  workplace = createWorkplace();
});
afterAll(() => workplace.remove());

/** Text that a wrong encoding would break. */
const TEXT = "It does one thing – 漢字, 🫖 – and says so.";
const says = () => provider(answer().text("It does one thing – 漢字, ").text("🫖 – and says so.").done());
const OK = { code: 0, stderr: "" };

it("has no block in a language that nobody runs", () => {
  expect(languagesIn("README.md").toSorted()).toEqual(["js", "json", "python", "sh", "ts"]);
});

it.each(programsIn("README.md", "ts"))(
  "TypeScript: block %# has the types that the package says, and runs",
  async (text) => {
    writeFileSync(join(workplace.folder, "ask.ts"), text);
    const compilerOptions = {
      module: "NodeNext",
      target: "ES2022",
      strict: true,
      noEmit: true,
      types: ["node"],
    };
    writeFileSync(
      join(workplace.folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["ask.ts"] }),
    );
    const compiler = join("node_modules", "typescript", "bin", "tsc");
    const types = await promisify(execFile)(process.execPath, [compiler, "-p", "."], {
      cwd: workplace.folder,
    });
    expect(types.stdout).toBe("");
    writeFileSync(join(workplace.folder, "ask.mjs"), (await transform(text, { loader: "ts" })).code);
    const env = { PATH: workplace.path, ...providerEnv(await says()) };
    const { code, stderr, stdout } = await runShell("node ask.mjs", { cwd: workplace.folder, env });
    expect({ code, stderr, stdout: stdout.toString("utf8") }).toEqual({ ...OK, stdout: TEXT });
  },
);

it.each(programsIn("README.md", "python"))("Python: block %# runs", async (text) => {
  writeFileSync(join(workplace.folder, "ask.py"), text);
  const server = await says();
  const run = (env: NodeJS.ProcessEnv) =>
    runShell("python3 ask.py", {
      cwd: workplace.folder,
      env: { PATH: workplace.path, ...providerEnv(server), ...env },
    });
  const { code, stderr, stdout } = await run({});
  expect({ code, stderr, stdout: stdout.toString("utf8") }).toEqual({ ...OK, stdout: TEXT });
  expect((await run({ ANTHROPIC_API_KEY: "" })).code).toBe(2);
});

it.each(programsIn("README.md", "js"))("JavaScript with the Agent SDK: block %# runs", async (text) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules", "@anthropic-ai"), { recursive: true });
  cpSync("tests/support/agent-sdk", join(folder, "node_modules/@anthropic-ai/claude-agent-sdk"), {
    recursive: true,
  });
  const run = await runSdkProgram(text, folder, (await says()).url);
  expect(run).toEqual({ ...OK, stdout: `${TEXT}\n` });
});
