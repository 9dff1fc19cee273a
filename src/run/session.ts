import { Conversation } from "../agent/conversation.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import { LogError, type LogWriter, type WhichSession } from "../sessions/event-log.ts";
import type { SessionStart } from "./options.ts";
import { logUnavailable } from "./output.ts";
import type { Asked } from "./session-fold.ts";
import { keptSessions, NO_PLACE_CURE, type SessionPlace } from "./store.ts";

/** Which session a run is to work on. */
export type SessionRequest =
  /** One that nobody will find again. */
  | { kind: "unkept"; id: string }
  | { kind: "new"; id: string; name: string | undefined }
  | { kind: "resume"; which: WhichSession; name: string | undefined; force: boolean }
  /** A new one with the conversation of another. */
  | { kind: "fork"; which: WhichSession; id: string; name: string | undefined; kept: boolean };

export interface SessionHost {
  place: SessionPlace;
  asked: Asked;
  date: () => Date;
  /** Ends the reading of a log, with its reason. */
  signal: AbortSignal;
}

export interface OpenSession {
  session: SessionStart;
  notices: EventBodyOf<"notice">[];
}

/**
 * Opens the session that a run is to work on. A new one that cannot be kept is no failure: the run says so and goes on.
 * @throws AgentError `usage` or `config` if the session cannot be had; `io` if its log cannot be read.
 */
export async function openSession(request: SessionRequest, host: SessionHost): Promise<OpenSession> {
  switch (request.kind) {
    case "unkept":
      return { session: newSession(request.id), notices: [] };
    case "new": {
      await checkName(request, host.place);
      const { log, notices } = await beginLog(host.place, request.id);
      return { session: { ...newSession(request.id), name: request.name, log }, notices };
    }
    case "resume":
    case "fork": {
      // A new session is begun without what reads an old one.
      const { resumeSession, forkSession } = await import("./resume.ts");
      return request.kind === "resume" ? resumeSession(request, host) : forkSession(request, host);
    }
    default:
      return request satisfies never;
  }
}

/** Most runs have no name, and begin without what looks for it. @throws AgentError `usage` if a running session has it. */
async function checkName(
  { id, name }: { id: string; name: string | undefined },
  place: SessionPlace,
): Promise<void> {
  if (name === undefined || (place.stateFolder === undefined && place.store === undefined)) return;
  const { refuseTakenName } = await import("./session-name.ts");
  await refuseTakenName(await keptSessions(place), name, id);
}

/** @throws AgentError `usage` if there is such a session; `config`, `network` or `io` if the store cannot be used. */
export async function beginLog(
  place: SessionPlace,
  id: string,
  parent?: string,
): Promise<{ log: LogWriter | undefined; notices: EventBodyOf<"notice">[] }> {
  try {
    if (place.stateFolder === undefined && !place.store)
      throw new LogError(`there is no place for it; ${NO_PLACE_CURE}`);
    return { log: await (await keptSessions(place)).create(id, parent), notices: [] };
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    return { log: undefined, notices: [logUnavailable(error)] };
  }
}

function newSession(id: string): SessionStart {
  return { id, conversation: new Conversation(), nextSeq: 1 };
}
