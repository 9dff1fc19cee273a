// Without vitest, since the conformance driver uses it too.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The programs in a page: what is fenced as that language. */
export function programsIn(page: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  return [...readFileSync(page, "utf8").matchAll(fence)].map(([, text = ""]) => text);
}

/** The languages of the blocks in a page. */
export function languagesIn(page: string): string[] {
  const fences = [...readFileSync(page, "utf8").matchAll(/^ *```(\w*)\n[^]*?^ *```$/gm)];
  return [...new Set(fences.map(([, language = ""]) => language))];
}

export interface ProgramRun {
  code: number | string | null | undefined;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program that uses the Agent SDK, with `linefeed` on the path.
 * @param folder where `node_modules` has the SDK. @param providerUrl who answers for the model.
 */
export function runSdkProgram(program: string, folder: string, providerUrl: string): Promise<ProgramRun> {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(resolve("dist/bin/linefeed.js"), join(bin, "linefeed"));
  writeFileSync(join(folder, "program.mjs"), program);
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: folder,
    LINEFEED_STATE_DIR: join(folder, "state"),
    ANTHROPIC_API_KEY: "test-key",
    ANTHROPIC_BASE_URL: providerUrl,
  };
  return new Promise((done) => {
    execFile(process.execPath, ["program.mjs"], { cwd: folder, env }, (error, stdout, stderr) =>
      done({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}
