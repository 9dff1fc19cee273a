import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../protocol/errors.ts";
import type { EventLog } from "../sessions/event-log.ts";
import type { SessionStatus } from "../sessions/status.ts";
import { thisMachine } from "../sessions/machine.ts";
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
 * @throws AgentError `idle_timeout` (retryable) if it has not ended in time; `invalid_request` if it refuses or runs on another machine;
 * `not_found` if its process is not known, `permission` if it may not be killed; the reason of the signal.
 */
export async function stopSession(log: EventLog, id: string, options: StopOptions): Promise<Stopped> {
  const { signal } = options;
  const before = await log.state(id, signal);
  if (before.terminal) {
    if (before.state === "crashed") await endCallsOfLostRun(await log.runProcess(id));
    return { how: "had_ended", status: before };
  }
  const hasEnded = await endInOrder(log, id, options);
  if (!hasEnded && !options.force) {
    throw new AgentError(
      "idle_timeout",
      `session ${id} has not ended within ${options.timeoutMs / 1000} s; wait longer with --timeout, or kill it with --force`,
      { retryable: true },
    );
  }
  if (!hasEnded) await kill(log, before, signal);
  return { how: hasEnded ? "stopped" : "killed", status: await log.state(id, signal) };
}

/** Whether the writer is gone in time. */
async function endInOrder(log: EventLog, id: string, { timeoutMs, signal }: StopOptions): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  try {
    await log.command(id, { cmd: "stop" }, { timeoutMs, signal });
  } catch (error) {
    // It has ended meanwhile, was even removed, or is stopped and never answers.
    const isGoneOrDeaf =
      error instanceof AgentError && ["not_found", "usage", "idle_timeout"].includes(error.code);
    if (!isGoneOrDeaf) throw error;
  }
  return untilGone(log, id, end - performance.now(), signal);
}

async function untilGone(log: EventLog, id: string, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + limitMs;
  for (let wait: number = POLL_MS.first; ; wait = Math.min(wait * 2, POLL_MS.longest)) {
    if ((await log.presence(id)) === "none") return true;
    if (performance.now() >= end) return false;
    await delay(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function unknownWriter({ id, host, log: place }: SessionStatus): AgentError {
  const isElsewhere = host !== null && host !== thisMachine().host;
  const where = isElsewhere
    ? `its process is on ${host}; end it there with: linefeed stop ${id} --force`
    : `the process that writes to it is not known; find it with: lsof ${place}`;
  return new AgentError("not_found", `session ${id} does not end, and ${where}`);
}

/** Kills the writer, if it is sure which process that is, and what its calls have left. */
async function kill(log: EventLog, status: SessionStatus, signal: AbortSignal): Promise<void> {
  const writer = await log.runProcess(status.id);
  if (!writer || !stillRuns(writer)) throw unknownWriter(status);
  try {
    process.kill(writer.pid, "SIGKILL");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // It may have ended at the last moment.
    if (stillRuns(writer))
      throw new AgentError("permission", `process ${writer.pid} cannot be killed: ${reason}`);
  }
  if (!(await untilGone(log, status.id, KILL_MS, signal))) {
    throw new AgentError(
      "idle_timeout",
      `process ${writer.pid} was killed and is still there; it hangs in the kernel`,
      { retryable: true },
    );
  }
  await endCallsOfLostRun(writer);
}
