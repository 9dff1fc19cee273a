import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../protocol/errors.ts";
import { requestControl } from "../sessions/control.ts";
import { isAlive } from "../sessions/lock.ts";
import { isOfAnotherHost, readMeta } from "../sessions/meta.ts";
import { sessionPaths, type SessionPaths } from "../sessions/paths.ts";
import { codeOf } from "../sessions/private-folder.ts";
import { sessionStatus, type SessionStatus } from "../sessions/status.ts";
import { stillRuns } from "../sessions/writer-process.ts";
import { endCallsOfLostRun } from "./lost-calls.ts";

/** How often it is looked whether the writer is gone, in ms. */
const POLL_MS = { first: 10, longest: 200 } as const;
/** After SIGKILL only a process that is stuck in the kernel is still there then, in ms. */
const KILL_MS = 5000;

export interface StopOptions {
  /** How long the run may take to end in order, in ms. */
  timeoutMs: number;
  /** Whether it is killed if it has not ended by then. */
  force: boolean;
  signal: AbortSignal;
}

export interface Stopped {
  /** What became of it: nothing, since it had ended before; it ended in order; it was killed. */
  how: "had_ended" | "stopped" | "killed";
  status: SessionStatus;
}

/**
 * Ends the run that a session has; of one that was killed, what its calls have left.
 * @throws AgentError `timeout` if it has not ended in time; `invalid_request` if it refuses or runs on another machine;
 * `not_found` if its process is not known, `permission` if it may not be killed; the reason of the signal.
 */
export async function stopSession(sessions: string, id: string, options: StopOptions): Promise<Stopped> {
  const paths = sessionPaths(sessions, id);
  const { signal } = options;
  const before = await sessionStatus(sessions, id, signal);
  if (before.terminal) {
    if (before.state === "crashed") await endCallsOfLostRun(readMeta(paths));
    return { how: "had_ended", status: before };
  }
  if (isOfAnotherHost(readMeta(paths))) {
    throw new AgentError(
      "invalid_request",
      `session ${id} was last written on ${before.host}; if it is running still, stop it there`,
    );
  }
  const hasEnded = await endInOrder(paths, id, options);
  if (!hasEnded && !options.force) {
    throw new AgentError(
      "timeout",
      `session ${id} has not ended within ${options.timeoutMs / 1000} s; wait longer with --timeout, or kill it with --force`,
    );
  }
  if (!hasEnded) await kill(paths, id, signal);
  return { how: hasEnded ? "stopped" : "killed", status: await sessionStatus(sessions, id, signal) };
}

/** Whether the writer is gone in time. */
async function endInOrder(
  { folder }: SessionPaths,
  id: string,
  { timeoutMs, signal }: StopOptions,
): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  try {
    await requestControl(folder, id, { cmd: "stop" }, { timeoutMs, signal });
  } catch (error) {
    const code = error instanceof AgentError ? error.code : codeOf(error);
    // It has ended meanwhile, was even removed, or is stopped and never answers.
    if (!["not_found", "ENOENT", "timeout"].includes(code)) throw error;
  }
  return untilGone(folder, end - performance.now(), signal);
}

async function untilGone(folder: string, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + limitMs;
  for (let wait: number = POLL_MS.first; ; wait = Math.min(wait * 2, POLL_MS.longest)) {
    if (!existsSync(folder) || !(await isAlive(folder))) return true;
    if (performance.now() >= end) return false;
    await delay(wait, undefined, { signal });
  }
}

/** Kills the writer, if it is sure which process that is, and what its calls have left. */
async function kill(paths: SessionPaths, id: string, signal: AbortSignal): Promise<void> {
  const { writer } = readMeta(paths);
  if (!writer || !stillRuns(writer)) {
    throw new AgentError(
      "not_found",
      `session ${id} does not end, and the process that writes to it is not known; find it with: lsof ${paths.events}`,
    );
  }
  try {
    process.kill(writer.pid, "SIGKILL");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // It may have ended at the last moment.
    if (stillRuns(writer))
      throw new AgentError("permission", `process ${writer.pid} cannot be killed: ${reason}`);
  }
  if (!(await untilGone(paths.folder, KILL_MS, signal))) {
    throw new AgentError(
      "timeout",
      `process ${writer.pid} was killed and is still there; it hangs in the kernel`,
    );
  }
  await endCallsOfLostRun(readMeta(paths));
}
