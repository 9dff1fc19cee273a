import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startFakeProvider } from "../../src/testing/fake-provider.ts";
import { environmentOf, livingProcesses } from "../../src/tools/process-table.ts";
import { judge, type Trace, type Verdict } from "./checks.ts";
import type { Plan, Reader } from "./plan.ts";

const CLI = resolve("dist/bin/linefeed.js");

/** Against hanging only: the longest runs take some 15 s, with all their retries. */
const HUNG_MS = 120_000;

/** By this the processes of a run are found, whatever they do. */
const SOAK_VARIABLE = "LINEFEED_SOAK_RUN";

/** Does what the plan says with the built command; returns how it ended. */
export async function soakRun(plan: Plan): Promise<Verdict> {
  const root = mkdtempSync(join(tmpdir(), "linefeed-soak-"));
  const provider = await startFakeProvider(plan.answers);
  try {
    const trace = await traceOf(plan, root, provider.url);
    const verdict = judge(plan, trace);
    for (const pid of trace.survivors) killHard(pid);
    return verdict;
  } finally {
    await provider.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function traceOf(plan: Plan, root: string, baseUrl: string): Promise<Trace> {
  const [cwd, temporary, state] = ["work", "temporary", "state"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [cwd, temporary, state]) mkdirSync(folder);
  writeFileSync(join(cwd, "notes.txt"), "a few notes\n".repeat(500));
  const child = spawn(process.execPath, [CLI, ...plan.args], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: root,
      TMPDIR: temporary,
      LINEFEED_STATE_DIR: state,
      ANTHROPIC_API_KEY: "sk-ant-soak",
      ANTHROPIC_BASE_URL: baseUrl,
      [SOAK_VARIABLE]: root,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // Whoever has ended, or was given no prompts, reads no more.
  child.stdin.on("error", () => {});
  child.stdin.end(plan.stdin);
  const ended = endOf(child);
  const stopSignals = sendSignals(child, plan.signals);
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  const { stdout, readerLeft } = await read(child, plan.reader);
  const end = await ended;
  stopSignals();
  return { ...end, stdout, readerLeft, stderr, survivors: await survivorsOf(root), temporary, state };
}

async function endOf(child: ChildProcess): Promise<Pick<Trace, "code" | "signal" | "hung">> {
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    child.kill("SIGKILL");
  }, HUNG_MS);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolveEnd, reject) => {
    child.on("error", reject);
    child.on("close", (...end) => resolveEnd(end));
  });
  clearTimeout(timer);
  return { code, signal, hung };
}

function sendSignals(child: ChildProcess, signals: Plan["signals"]): () => void {
  const timers = signals.map(({ name, afterMs }) => setTimeout(() => child.kill(name), afterMs));
  return () => timers.forEach(clearTimeout);
}

async function read(child: ChildProcess, reader: Reader): Promise<Pick<Trace, "stdout" | "readerLeft">> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (!child.stdout) throw new TypeError("stdout is no pipe");
  for await (const chunk of child.stdout) {
    const buffer = Buffer.from(chunk as Uint8Array);
    chunks.push(buffer);
    bytes += buffer.length;
    if (reader.closeAfter !== undefined && bytes > reader.closeAfter)
      return { stdout: Buffer.concat(chunks), readerLeft: true };
    if (reader.pauseMs > 0) await sleep(reader.pauseMs);
  }
  return { stdout: Buffer.concat(chunks), readerLeft: false };
}

/** What was killed may take a moment to be gone. */
async function survivorsOf(root: string): Promise<number[]> {
  let survivors: number[] = [];
  for (let tries = 0; tries < 20; tries += 1) {
    survivors = livingProcesses()
      .map(({ pid }) => pid)
      .filter((pid) => environmentOf(pid, SOAK_VARIABLE) === root);
    if (survivors.length === 0) return [];
    await sleep(50);
  }
  return survivors;
}

function killHard(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
