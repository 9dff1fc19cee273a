import { closeSync, openSync, writeSync } from "node:fs";
import type { Sink } from "../emit/sink.ts";
import { jsonlFormat } from "../emit/formats/jsonl.ts";
import { AgentError, toErrorInfo } from "../protocol/errors.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { providerName } from "../run/first-line.ts";
import { promptList } from "../run/prompts.ts";
import { run, type RunEnd } from "../run/run.ts";
import { openSession, type SessionRequest } from "../run/session.ts";
import { stateDirectory } from "../run/state-directory.ts";
import { parseHandover, type Handover, type Outcome } from "./handover.ts";
import { checkOptions, complete } from "./options.ts";
import { parseRun } from "./parse-run.ts";
import { sessionRequest } from "./session-request.ts";
import { readAllOfStdin } from "./stdin.ts";
import { storeOfRun } from "./store.ts";

/** Nobody reads a worker's stdout: the log is what it prints. */
const NOWHERE: Sink = {
  write: () => undefined,
  taken: 0,
  onReaderClosed: () => undefined,
  giveUp: () => undefined,
};

/** A background run: does what it is handed over, without anything of its caller's. */
export async function work(env: NodeJS.ProcessEnv, cancellation: Cancellation): Promise<RunEnd> {
  // A terminal that is closed is no reason to end; that is what the background is for.
  process.on("SIGHUP", () => undefined);
  let hasBegun = false;
  const answer = (outcome: Outcome) => {
    if (hasBegun) return;
    hasBegun = true;
    leaveCaller(outcome);
  };
  try {
    const handover = parseHandover(await readAllOfStdin());
    return await workOn(handover, { ...env, ...handover.secrets }, cancellation, () =>
      answer({ kind: "running" }),
    );
  } catch (error) {
    const { code, message, retryable } = toErrorInfo(error);
    answer({ kind: "failed", code, message, retryable });
    throw error;
  }
}

async function workOn(
  handover: Handover,
  env: NodeJS.ProcessEnv,
  cancellation: Cancellation,
  onServing: () => void,
): Promise<RunEnd> {
  const parsed = await parseRun(handover.argv);
  if (!parsed) throw new AgentError("internal", "a background run was asked for help");
  const { flags } = parsed;
  const stateFolder = stateDirectory(env);
  const place = { stateFolder, store: await storeOfRun(flags, env) };
  const options = await checkOptions(flags, env, stateFolder);
  const request = withId(sessionRequest(flags, options.cwd), handover.id);
  const opened = await openSession(request, {
    place,
    asked: { provider: providerName(options.provider), model: options.model },
    date: () => new Date(),
    signal: cancellation.signal,
  });
  if (!opened.session.log) {
    const [notice] = opened.notices;
    throw new AgentError("config", notice?.message ?? "the session's log cannot be written");
  }
  const prompts = { prompts: promptList([handover.prompt]), notices: [] };
  return run(complete(options, opened, prompts), {
    sink: NOWHERE,
    format: jsonlFormat(),
    cancellation,
    date: () => new Date(),
    random: Math.random,
    onServing,
    onUndelivered: (message) => process.stderr.write(`linefeed: ${message}\n`),
  });
}

/** What was resolved once, by the process that was asked, is meant. */
function withId(request: SessionRequest, id: string): SessionRequest {
  return request.kind === "resume" ? { ...request, which: { reference: id } } : { ...request, id };
}

/** The last that the caller hears; from here on nothing of his is held open. */
function leaveCaller(outcome: Outcome): void {
  try {
    writeSync(1, JSON.stringify(outcome));
  } catch {
    // He has gone; the run goes on.
  }
  for (const [fd, mode] of [
    [0, "r"],
    [1, "w"],
  ] as const) {
    closeSync(fd);
    // Takes the lowest free number, which is the one just given back.
    openSync("/dev/null", mode);
  }
}
