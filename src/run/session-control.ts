import type { EventBodyOf } from "../protocol/event.ts";
import { AgentError } from "../protocol/errors.ts";
import type { ControlRequest } from "../sessions/control.ts";
import type { LogWriter } from "../sessions/event-log.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Interrupt } from "./interrupt.ts";
import type { PromptQueue } from "./prompt-queue.ts";

/** What a request from outside acts on. */
export interface Controlled {
  cancellation: Cancellation;
  prompts: PromptQueue;
  interrupt: Interrupt;
}

/**
 * Lets others find and ask the run. Returns what is to be said where that cannot be; a session that another process
 * writes to is a reason to end the run.
 */
export async function serveSession(
  log: LogWriter,
  controlled: Controlled,
): Promise<EventBodyOf<"notice"> | undefined> {
  try {
    await log.serve((request) => handle(request, controlled));
    return undefined;
  } catch (error) {
    if (error instanceof AgentError && error.code !== "config") {
      controlled.cancellation.cancel(error);
      return undefined;
    }
    const reason = error instanceof Error ? error.message : String(error);
    const message = `nobody can send to this run or stop it but by signals, since its socket cannot be made: ${reason}`;
    return { type: "notice", level: "warning", code: "control_unavailable", message };
  }
}

function handle(request: ControlRequest, { cancellation, prompts, interrupt }: Controlled): void {
  switch (request.cmd) {
    case "ping":
      return;
    case "stop":
      // As by the signal, so that whoever waits for the process sees the same end.
      cancellation.onSignal("SIGTERM");
      return;
    case "send":
      prompts.send(request.prompt);
      if (request.interrupt) interrupt.interrupt("another prompt");
      return;
    default:
      request satisfies never;
  }
}
