// What tests need to know of where sessions lie.
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { StreamCheck } from "../../src/consume/stream-check.ts";
import { FileLog } from "../../src/sessions/file-log/log.ts";
import type { LinefeedEvent } from "../../src/protocol/event.ts";
import { endCallsOfLostRun } from "../../src/run/lost-calls.ts";
import { runProcessOf } from "../../src/sessions/file-log/meta.ts";
import { sessionPaths } from "../../src/sessions/file-log/paths.ts";
import { stillRuns } from "../../src/sessions/writer-process.ts";
import { runCli, scriptFile, temporaryFolder, type CliOptions, type CliRun } from "./cli.ts";
import { parseLines } from "./lint.ts";

/** A folder for the state of a few runs. */
export interface State {
  env: NodeJS.ProcessEnv;
  /** The folder of all sessions. */
  sessions: string;
  ids(): string[];
  folder(id: string): string;
  log(id: string): string;
  lines(id: string): LinefeedEvent[];
  /** Runs the command with this state, as JSON lines. */
  run(args: readonly string[], options?: CliOptions): Promise<CliRun>;
}

export function newState(root = temporaryFolder()): State {
  const sessions = join(root, "linefeed", "sessions");
  const env = { LINEFEED_STATE_DIR: root };
  const log = (id: string) => join(sessions, id, "events.jsonl");
  return {
    env,
    sessions,
    ids: () => (statSync(sessions, { throwIfNoEntry: false }) ? readdirSync(sessions) : []),
    folder: (id) => join(sessions, id),
    log,
    lines: (id) => parseLines(readFileSync(log(id))),
    run: (args, options = {}) => runCli(["--json", ...args], { ...options, env: { ...env, ...options.env } }),
  };
}

/** A message that asks for a command. */
export const bash = (command: string) => ({
  content: [{ type: "tool_use" as const, name: "Bash", input: { command } }],
});

/** A script of one answer. */
export const hello = () => scriptFile(["Hello."]);

/** The only session of a state. */
export function onlyId(state: State): string {
  const [id, ...more] = state.ids();
  if (id === undefined || more.length > 0)
    throw new Error(`one session was expected, not ${state.ids().length}`);
  return id;
}

/** What `linefeed check` would say of a log. */
export function faultsOf(log: string | Buffer): string[] {
  const check = new StreamCheck();
  const bytes = typeof log === "string" ? readFileSync(log) : log;
  return [...check.push(bytes), ...check.end()].map(({ line, message }) => `${line}: ${message}`);
}

/** Files and folders below one, with their modes. */
export function modesIn(folder: string): Record<string, string> {
  const names = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  return Object.fromEntries(
    names.map((name) => [name, (statSync(join(folder, name)).mode & 0o7777).toString(8)]),
  );
}

/** A session as files, without a run: what a test wants to be found there. Returns its id. */
export function storeSession(
  state: State,
  log: string | Buffer | undefined,
  {
    meta,
    id = randomUUID(),
    ageMs = 60_000,
  }: { meta?: object; id?: string | undefined; ageMs?: number | undefined } = {},
): string {
  mkdirSync(state.folder(id), { recursive: true });
  if (meta) writeFileSync(join(state.folder(id), "meta.json"), JSON.stringify(meta));
  if (log !== undefined) writeFileSync(state.log(id), log);
  const written = new Date(Date.now() - ageMs);
  utimesSync(log === undefined ? state.folder(id) : state.log(id), written, written);
  return id;
}

/** Starts a run in the background; it is killed with the test if it still runs then. Returns its session's id. */
export async function beginInBackground(
  state: State,
  answers: Parameters<typeof scriptFile>[0],
  more: readonly string[] = [],
): Promise<string> {
  const args = ["--bg", "-p", "go", "--fake", scriptFile(answers), "--allowed-tools", "Bash", ...more];
  const run = await runCli(args, { env: state.env });
  const id = run.stdout.toString("utf8").trim();
  if (run.code !== 0) throw new Error(`it could not be started: ${run.stderr}`);
  killWithTest(state, id);
  return id;
}

/** A session's worker is killed when the test is over, if it still runs then, and what its calls have left is ended. */
export function killWithTest(state: State, id: string): void {
  const worker = runProcessOf(sessionPaths(state.sessions, id));
  if (!worker) throw new Error(`nobody knows the worker of ${id}`);
  onTestFinished(async () => {
    if (stillRuns(worker)) process.kill(worker.pid, "SIGKILL");
    while (stillRuns(worker)) await delay(5);
    await endCallsOfLostRun(worker);
  });
}

/** Whether a session has a writer that lives. */
export async function hasWriter(state: State, id: string): Promise<boolean> {
  return (await new FileLog(state.sessions).presence(id)) === "alive";
}

/** The process that a session's meta file names. */
export function writerOf(state: State, id: string): { pid: number } {
  const meta = JSON.parse(readFileSync(join(state.folder(id), "meta.json"), "utf8")) as {
    writer: { pid: number };
  };
  return meta.writer;
}
