import { AgentError } from "../protocol/errors.ts";
import type { EventLog } from "../sessions/event-log.ts";

/**
 * Refuses a name that a running session has: two that run side by side could not be told apart by it. One that has ended gives
 * its name away.
 *
 * @param id the session that is to have the name.
 * @throws AgentError `usage` that names the other session.
 */
export async function refuseTakenName(log: EventLog, name: string | undefined, id: string): Promise<void> {
  if (name === undefined) return;
  const other = await log.liveNamed(name);
  if (other === undefined || other === id) return;
  throw new AgentError(
    "usage",
    `session ${other} is running under the name ${JSON.stringify(name)}; watch it with: linefeed attach ${other}, ` +
      "or choose another --name",
  );
}
