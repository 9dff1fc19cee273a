import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../../protocol/errors.ts";
import { noAnswer, notRunning, type ControlRequest, type RequestOptions } from "../control.ts";
import { noSession } from "../find.ts";
import { isOfAnotherMachine } from "../machine.ts";
import { codeOf } from "../private-folder.ts";
import { requestControl } from "./control-socket.ts";
import { lookForWriter } from "./lock.ts";
import { readMeta } from "./meta.ts";
import type { SessionPaths } from "./paths.ts";
import { presenceOf } from "./presence.ts";

/** A run that has begun can be asked soon; so often it is looked whether it can, in ms. */
const POLL_MS = 20;

/** Asks the writer of a session. @throws as {@link EventLog.command}. */
export async function commandWriter(
  paths: SessionPaths,
  id: string,
  request: ControlRequest,
  options: RequestOptions,
): Promise<void> {
  options.signal.throwIfAborted();
  try {
    await ask(paths, id, request, options);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw noSession(id);
    if (error instanceof AgentError && error.code === "not_found") checkHere(paths, id);
    throw error;
  }
}

async function ask(
  paths: SessionPaths,
  id: string,
  request: ControlRequest,
  { timeoutMs, signal }: RequestOptions,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while ((await lookForWriter(paths.folder)) === "unasked") {
    checkHere(paths, id);
    if ((await presenceOf(paths)) === "none") throw notRunning(id);
    if (performance.now() >= end) throw noAnswer(id);
    await delay(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  const left = Math.max(1, end - performance.now());
  await requestControl(paths.folder, id, request, { timeoutMs: left, signal });
}

function checkHere(paths: SessionPaths, id: string): void {
  const meta = readMeta(paths);
  if (!isOfAnotherMachine(meta)) return;
  throw new AgentError(
    "invalid_request",
    `session ${id} was last written on ${meta.host}; if it is running still, it can be asked only there`,
  );
}
