import type { EventBodyOf } from "../protocol/event.ts";
import type { RunProcess } from "../sessions/event-log.ts";
import { stillRuns } from "../sessions/writer-process.ts";

/** More are counted, not named. */
const NAMED = 3;

/**
 * Ends what the calls of a session's latest run have left, whose process was killed and could not do it. Nothing, where there is
 * no process table, for a run that lets them live, and for one of another machine. Takes 3 s at most; never rejects.
 *
 * @returns what it ended, for people; undefined if there was nothing.
 */
export async function endCallsOfLostRun(
  run: RunProcess | undefined,
): Promise<EventBodyOf<"notice"> | undefined> {
  if (!run || run.process_mark === null || run.start_time === null) return undefined;
  // Somebody may have carried the session on by now.
  if (stillRuns(run)) return undefined;
  const { endProcessesOfOther } = await import("../tools/processes.ts");
  const left = await endProcessesOfOther(run.process_mark, run.start_time);
  if (left.length === 0) return undefined;
  const commands = left.slice(0, NAMED).map(({ command, pid }) => `${command} (${pid})`);
  const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : "";
  const message = `left by the run that was killed, and ended now: ${commands.join(", ")}${more}`;
  return { type: "notice", level: "info", code: "children_ended", message };
}
