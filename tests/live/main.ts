import { spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { EventOf, StreamItem } from "../../src/consume/index.ts";
import { startFakeProvider, type FakeAnswer } from "../../src/testing/index.ts";
import { faultsOf, itemsOf, linesOf } from "../support/dialects.ts";
import { AGENTS, HELLO, type Agent } from "./agents.ts";

/** So long an agent may take for one answer, in ms. */
const PATIENCE_MS = 90_000;
/** Nobody tries that again. */
const REFUSED: FakeAnswer = {
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message: "no" } },
};

/**
 * `npm run dialects:live`: runs each agent that is on the path against the fake provider, once answered and once refused, and
 * reads its stream. Other agents change; this tells whether we still understand them.
 */
export async function main(): Promise<void> {
  const found = AGENTS.filter(({ program }) => isOnPath(program));
  if (found.length === 0) {
    console.log(`none of ${AGENTS.map(({ program }) => program).join(", ")} is on the path: nothing to do`);
    return;
  }
  for (const agent of found) {
    for (const [what, answered] of [
      ["answered", true],
      ["refused", false],
    ] as const) {
      const faults = await tryOut(agent, answered);
      console.log(`${agent.program}, ${what}: ${faults.length === 0 ? "ok" : ""}`);
      for (const fault of faults) console.log(`  ${fault}`);
      if (faults.length > 0) process.exitCode = 1;
    }
  }
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** What is wrong with the stream of one run. */
async function tryOut(agent: Agent, answered: boolean): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "linefeed-live-"));
  const provider = await startFakeProvider([answered ? agent.hello() : REFUSED]);
  try {
    const { stdout, stderr } = await run(agent, provider.url, folder);
    const items = await itemsOf([stdout]);
    const faults = [...faultsOf(linesOf(items)), ...faultsOfItems(items, agent, answered)];
    return faults.length === 0
      ? []
      : [...faults, `stdout: ${stdout.slice(0, 2000)}`, `stderr: ${stderr.slice(0, 500)}`];
  } finally {
    await provider.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function faultsOfItems(items: readonly StreamItem[], agent: Agent, answered: boolean): string[] {
  const init = items.find((item) => item.type === "init");
  const result = items.findLast((item) => item.type === "result");
  return [
    ...(init?.dialect === agent.program ? [] : [`taken for a stream of ${init?.dialect ?? "nobody"}`]),
    ...items.flatMap((item) => (item.type === "invalid" ? [item.message] : [])),
    ...items.flatMap((item) => (item.type === "unknown" ? [`not known: ${item.name}`] : [])),
    ...(result ? faultsOfResult(result, answered) : ["no result"]),
  ];
}

function faultsOfResult({ status, text, synthetic, error }: EventOf<"result">, answered: boolean): string[] {
  const said = `ended as ${status}, saying ${JSON.stringify(text)} (${error?.code ?? "no error"})`;
  if (answered) return status === "ok" && text === HELLO ? [] : [said];
  return status === "error" && !synthetic ? [] : [said];
}

interface Output {
  stdout: string;
  stderr: string;
}

async function run(agent: Agent, url: string, folder: string): Promise<Output> {
  const home = join(folder, "home");
  const cwd = join(folder, "work");
  for (const path of [home, cwd]) mkdirSync(path);
  agent.prepare?.(url, home);
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    NO_COLOR: "1",
    ...agent.env(url, home),
  };
  const child = spawn(agent.program, agent.args(url), {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const impatience = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, PATIENCE_MS);
  await new Promise<void>((resolve) => {
    child.on("error", (error) => {
      output.stderr += error.message;
      resolve();
    });
    child.on("close", () => resolve());
  });
  clearTimeout(impatience);
  return output;
}
