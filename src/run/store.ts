import { AgentError } from "../protocol/errors.ts";
import type { EventLog } from "../sessions/event-log.ts";
import { FileLog } from "../sessions/file-log/log.ts";
import { sessionsFolder } from "../sessions/file-log/paths.ts";

/** What helps where linefeed has no folder for its state. */
export const NO_PLACE_CURE = "set HOME, XDG_STATE_HOME or LINEFEED_STATE_DIR";

/**
 * The sessions that are kept: the one place that knows what keeps them.
 * @param stateFolder the folder of linefeed's state; undefined where there is no place for one.
 * @throws AgentError `config` where there is no place for sessions.
 */
export function keptSessions(stateFolder: string | undefined): EventLog {
  if (stateFolder !== undefined) return new FileLog(sessionsFolder(stateFolder));
  throw new AgentError("config", `there is no place where sessions are kept; ${NO_PLACE_CURE}`);
}
