import { encode } from "../emit/encode.ts";
import { createStamp } from "../emit/stamp.ts";
import { AgentError } from "../protocol/errors.ts";
import type { EventBodyOf, LinefeedEvent } from "../protocol/event.ts";
import { LogError, type LogReading, type LogWriter, type ReadOptions } from "../sessions/event-log.ts";
import { endCallsOfLostRun } from "./lost-calls.ts";
import { beginLog, type OpenSession, type SessionHost, type SessionRequest } from "./session.ts";
import { SessionFold } from "./session-fold.ts";
import { refuseTakenName } from "./session-name.ts";
import { keptSessions } from "./store.ts";

type Request<Kind extends SessionRequest["kind"]> = Extract<SessionRequest, { kind: Kind }>;

/** Carries a session on, in its own log, which is brought in order first. @throws as `openSession`. */
export async function resumeSession(
  { which, name, force }: Request<"resume">,
  host: SessionHost,
): Promise<OpenSession> {
  const log = await keptSessions(host.place);
  const id = await log.find(which);
  await refuseTakenName(log, name, id);
  const fold = new SessionFold(host.asked);
  try {
    const { writer, reading } = await log.open(id, { ...readInto(fold, host.signal), force });
    const nextSeq = closeLostRun(fold, writer, reading.nextSeq, { id, date: host.date });
    const session = { id, conversation: fold.conversation(), nextSeq, name, log: writer };
    const ended = nextSeq > reading.nextSeq ? await endCallsOfLostRun(await log.runProcess(id)) : undefined;
    return { session, notices: [...damageNotices(reading), ...(ended ? [ended] : [])] };
  } catch (error) {
    throw asAgentError(error, id);
  }
}

/** Begins a session with the conversation of another, which stays as it is. @throws as `openSession`. */
export async function forkSession(
  { which, id, name, kept }: Request<"fork">,
  host: SessionHost,
): Promise<OpenSession> {
  const log = await keptSessions(host.place);
  const parent = await log.find(which);
  if (kept) await refuseTakenName(log, name, id);
  const fold = new SessionFold(host.asked);
  let firstSeq: number | undefined;
  const onEvent = (event: LinefeedEvent) => {
    firstSeq ??= event.seq;
    fold.inherit(event);
  };
  const reading = await log.read(parent, { signal: host.signal, onEvent }).catch((error: unknown) => {
    throw asAgentError(error, parent);
  });
  const seq = reading.nextSeq - 1;
  const begun = kept ? await beginLog(host.place, id, parent) : undefined;
  return {
    session: {
      id,
      conversation: fold.conversation(),
      nextSeq: 1,
      name,
      log: begun?.log,
      forkedFrom: seq > 0 ? { session_id: parent, seq } : undefined,
    },
    // A line that is being written is not torn, and nothing is dropped from the other log.
    notices: [
      ...damageNotices({ ...reading, tornBytes: 0 }),
      ...beginningNotices(reading, firstSeq),
      ...(begun?.notices ?? []),
    ],
  };
}

function readInto(fold: SessionFold, signal: AbortSignal): ReadOptions {
  return {
    signal,
    onEvent: (event, inherited) => (inherited ? fold.inherit(event) : fold.apply(event)),
  };
}

/** A store may have dropped the first lines of a session. */
function beginningNotices({ badLines }: LogReading, firstSeq: number | undefined): EventBodyOf<"notice">[] {
  if (badLines > 0 || firstSeq === undefined || firstSeq === 1) return [];
  const message = `the store has dropped the first lines of the session (--retain-lines); only what was said from line ${firstSeq} on is known`;
  return [{ type: "notice", level: "warning", code: "bad_line_skipped", message }];
}

/**
 * A run without a last word gets one, and what was open in it an end, as lines of the log. Returns the number of the line
 * that comes next. @throws LogError
 */
function closeLostRun(
  fold: SessionFold,
  writer: LogWriter,
  firstSeq: number,
  { id, date }: { id: string; date: () => Date },
): number {
  const stamp = createStamp({ sessionId: id, firstSeq, date });
  const events = fold.closing().map(stamp);
  if (events.length === 0) return firstSeq;
  writer.append(events.map(encode).join(""), true);
  for (const event of events) fold.apply(event);
  return firstSeq + events.length;
}

function damageNotices({ tornBytes, badLines, firstBad }: LogReading): EventBodyOf<"notice">[] {
  const notices: EventBodyOf<"notice">[] = [];
  if (badLines > 0) {
    const named = firstBad.map(({ number, reason }) => `line ${number} (${reason})`).join(", ");
    const more = badLines > firstBad.length ? ` and ${badLines - firstBad.length} more` : "";
    const message = `the session's log is damaged; what could not be read was left out: ${named}${more}`;
    notices.push({ type: "notice", level: "warning", code: "bad_line_skipped", message });
  }
  if (tornBytes > 0) {
    const message = `the last line of the session's log was not whole (${tornBytes} bytes), and was dropped`;
    notices.push({ type: "notice", level: "warning", code: "torn_line_dropped", message });
  }
  return notices;
}

function asAgentError(error: unknown, id: string): unknown {
  return error instanceof LogError
    ? new AgentError("io", `session ${id} cannot be resumed: ${error.message}`, { cause: error })
    : error;
}
