import { AgentError } from "../protocol/errors.ts";
import { DETERMINISTIC_SESSION_ID } from "../run/deterministic.ts";
import type { SessionRequest } from "../run/session.ts";
import { newSessionId } from "../run/session-id.ts";
import type { WhichSession } from "../sessions/event-log.ts";
import type { RunFlags } from "./flags.ts";

/**
 * Which session the flags ask for.
 * @param cwd the working folder, absolute with links resolved.
 * @throws AgentError `usage` naming flags that do not go together.
 */
export function sessionRequest(flags: RunFlags, cwd: string): SessionRequest {
  const { name, forkSession = false, force = false, sessionPersistence: kept } = flags;
  const which = whichSession(flags, cwd);
  if (flags.deterministic) return deterministicRequest(flags, which);
  const id = () => flags.sessionId ?? newSessionId(Date.now());
  if (which === undefined) {
    if (forkSession) throw new AgentError("usage", "--fork-session needs --resume or --continue");
    if (force) throw new AgentError("usage", "--force needs --resume or --continue");
    return kept ? { kind: "new", id: id(), name } : { kind: "unkept", id: id() };
  }
  if (forkSession) return { kind: "fork", which, id: id(), name, kept };
  if (flags.sessionId !== undefined) {
    throw new AgentError(
      "usage",
      "--session-id is for a new session; --resume takes the id of an old one, or add --fork-session",
    );
  }
  if (!kept) {
    throw new AgentError(
      "usage",
      "a session that is carried on is kept; add --fork-session to go on without that",
    );
  }
  return { kind: "resume", which, name, force };
}

function whichSession(flags: RunFlags, cwd: string): WhichSession | undefined {
  const { resume } = flags;
  if (typeof resume === "string") {
    if (flags.continue) throw new AgentError("usage", "--continue and --resume exclude each other");
    return { reference: resume };
  }
  return resume || flags.continue ? { latestIn: cwd } : undefined;
}

/** Every run of a script has the same id, so none of them is kept. */
function deterministicRequest(flags: RunFlags, which: WhichSession | undefined): SessionRequest {
  if (which !== undefined || flags.sessionId !== undefined || flags.name !== undefined) {
    throw new AgentError(
      "usage",
      "--deterministic keeps no session; leave out --resume, --continue, --session-id and --name",
    );
  }
  return { kind: "unkept", id: DETERMINISTIC_SESSION_ID };
}
