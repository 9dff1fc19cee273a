import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encode } from "../emit/encode.ts";
import { stampLone } from "../emit/stamp.ts";
import { AgentError, isErrorCode } from "../protocol/errors.ts";
import type { PromptContent } from "../protocol/content.ts";
import type { RunEnd } from "../run/run.ts";
import type { SessionRequest } from "../run/session.ts";
import { refuseTakenName } from "../run/session-name.ts";
import { keptSessions, NO_PLACE_CURE, type SessionPlace } from "../run/store.ts";
import { SessionBusyError } from "../sessions/busy.ts";
import { sessionPaths, sessionsFolder, type SessionPaths } from "../sessions/file-log/paths.ts";
import { makePrivateFolder } from "../sessions/private-folder.ts";
import { SECRET_VARIABLES } from "../tools/environment.ts";
import type { CommandHost } from "./commands/command.ts";
import { withStdout } from "./commands/stdout.ts";
import type { Prompts, PromptSource } from "./prompt.ts";
import { parseOutcome, type Handover, type Outcome } from "./handover.ts";
import { WORKER_WORD } from "./worker-word.ts";

/** A worker that says nothing for so long has failed, in ms. */
const START_MS = 30_000;

export interface BackgroundRun {
  argv: readonly string[];
  source: PromptSource;
  prompts: Prompts;
  request: SessionRequest;
  place: SessionPlace;
  /** Whether the answer is the `session` line or the bare id. */
  asLine: boolean;
}

/**
 * Starts a run in a process of its own, which outlives this one and its terminal; says its session's id once its first line is
 * in the log and it can be asked. Flags, key and configuration have been checked by then.
 *
 * @throws AgentError as a run would, for what keeps it from beginning.
 */
export async function backgroundRun(
  run: BackgroundRun,
  { env, cancellation }: Omit<CommandHost, "run">,
): Promise<RunEnd> {
  const prompt = await promptOf(run, cancellation.signal);
  const { id, paths, name, isNew } = await worksiteOf(run);
  const log = openSync(join(paths.folder, "worker.log"), "a", 0o600);
  let worker: ChildProcess;
  try {
    worker = spawn(process.execPath, [process.argv[1] ?? "", WORKER_WORD], {
      detached: true,
      // Its own descriptors only: whoever waits for the end of our stdout must not wait for the run.
      stdio: ["pipe", "pipe", log],
      env: withoutSecrets(env),
    });
  } finally {
    closeSync(log);
  }
  const outcome = await handOver(worker, { argv: [...run.argv], prompt, id, secrets: secretsOf(env) });
  if (outcome.kind === "failed") {
    // What never began leaves nothing behind.
    if (isNew && !existsSync(paths.events)) rmSync(paths.folder, { recursive: true, force: true });
    const { code, message, retryable } = outcome;
    throw new AgentError(isErrorCode(code) ? code : "internal", message, { retryable });
  }
  const answer = { type: "session", name, pid: worker.pid ?? 0, log: paths.events } as const;
  return withStdout(cancellation, async (write) => {
    await write(run.asLine ? encode(stampLone(answer, id, new Date())) : `${id}\n`);
    return 0;
  });
}

async function promptOf({ source, prompts }: BackgroundRun, signal: AbortSignal): Promise<PromptContent> {
  if (source.kind === "lines" || source.kind === "client") {
    throw new AgentError("usage", "--bg takes one prompt; send it more with: linefeed send, and --keep-open");
  }
  const next = await prompts.prompts.next(signal);
  if (next?.kind === "prompt") return next.prompt;
  throw new AgentError("usage", "--bg needs a prompt");
}

interface Worksite {
  id: string;
  name: string | null;
  paths: SessionPaths;
  /** Whether its folder was made only now. */
  isNew: boolean;
}

/** The session that the worker is to work on, and its folder. */
async function worksiteOf({ request, place }: BackgroundRun): Promise<Worksite> {
  if (request.kind === "unkept" || (request.kind === "fork" && !request.kept)) {
    throw new AgentError(
      "usage",
      "--bg needs a session that is kept: what it prints is in the session's log",
    );
  }
  const { stateFolder } = place;
  if (stateFolder === undefined) {
    throw new AgentError("config", `there is no place for the session's log; ${NO_PLACE_CURE}`);
  }
  const log = await keptSessions(place);
  const id = request.kind === "resume" ? await log.find(request.which) : request.id;
  if ((await log.presence(id)) === "alive") throw new SessionBusyError(id);
  await refuseTakenName(log, request.name, id);
  // What the worker says outside of its log lies beside it, on this machine.
  const paths = sessionPaths(sessionsFolder(stateFolder), id);
  const isNew = !existsSync(paths.folder);
  try {
    makePrivateFolder(paths.folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentError("config", `the session cannot be kept: ${why}; point LINEFEED_STATE_DIR elsewhere`);
  }
  return { id, paths, name: request.name ?? null, isNew };
}

function secretsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    SECRET_VARIABLES.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of SECRET_VARIABLES) delete rest[name];
  return rest;
}

/** Tells the worker what to do, and waits for what becomes of it. */
function handOver(worker: ChildProcess, handover: Handover): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const settle = (action: () => void) => {
      clearTimeout(timer);
      worker.stdout?.destroy();
      worker.stdin?.destroy();
      worker.unref();
      action();
    };
    const failed = (why: string) =>
      settle(() => reject(new AgentError("internal", `the background run could not be started: ${why}`)));
    const timer = setTimeout(() => {
      worker.kill("SIGKILL");
      failed(`it said nothing for ${START_MS / 1000} s`);
    }, START_MS);
    worker.on("error", (error) => failed(error.message));
    worker.stdin?.on("error", () => undefined);
    worker.stdout?.on("error", () => undefined);
    worker.stdout?.on("data", (chunk: Buffer) => {
      answer += chunk.toString("utf8");
    });
    worker.stdout?.on("close", () => {
      if (answer === "") return failed("its process ended; worker.log in the session's folder may say why");
      settle(() => resolve(parseOutcome(answer)));
    });
    worker.stdin?.end(JSON.stringify(handover));
  });
}
