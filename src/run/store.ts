import { AgentError } from "../protocol/errors.ts";
import type { EventLog } from "../sessions/event-log.ts";
import { FileLog } from "../sessions/file-log/log.ts";
import { sessionsFolder } from "../sessions/file-log/paths.ts";
import type { RedisStore } from "../sessions/redis-log/store.ts";

/** What helps where linefeed has no folder for its state. */
export const NO_PLACE_CURE = "set HOME, XDG_STATE_HOME or LINEFEED_STATE_DIR";

/** Where sessions are kept. */
export interface SessionPlace {
  /** The folder of linefeed's state; undefined where there is no place for one. */
  stateFolder: string | undefined;
  /** Where other machines see them too; undefined: nowhere. */
  store: RedisStore | undefined;
}

/**
 * The sessions that are kept: the one place that knows what keeps them.
 * @throws AgentError `config` where there is no place for sessions.
 */
export async function keptSessions({ stateFolder, store }: SessionPlace): Promise<EventLog> {
  const folder = stateFolder === undefined ? undefined : sessionsFolder(stateFolder);
  if (store) {
    const { RedisLog } = await import("../sessions/redis-log/log.ts");
    return new RedisLog(store, folder);
  }
  if (folder !== undefined) return new FileLog(folder);
  throw new AgentError("config", `there is no place where sessions are kept; ${NO_PLACE_CURE}`);
}
