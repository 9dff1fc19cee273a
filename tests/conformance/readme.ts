import { answer, startFakeProvider } from "../../src/testing/index.ts";
import { programsIn, runSdkProgram } from "../support/docs-programs.ts";

/** Runs the README's program that uses the SDK. @param folder where it is installed. @returns what is wrong, undefined if nothing is. */
export async function readmeFault(folder: string): Promise<string | undefined> {
  const [program = ""] = programsIn("README.md", "js");
  const server = await startFakeProvider([answer().text("hi there").done()]);
  try {
    const { code, stdout, stderr } = await runSdkProgram(program, folder, server.url);
    if (code === 0 && stdout === "hi there\n") return undefined;
    return `exit code ${code}, stdout ${JSON.stringify(stdout)}, stderr ${JSON.stringify(stderr)}`;
  } finally {
    await server.close();
  }
}
