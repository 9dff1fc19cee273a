import type { LinefeedEvent } from "../protocol/event.ts";
import type { ControlHandler, ControlRequest, RequestOptions } from "./control.ts";
import type { SessionState, WriterPresence } from "./state.ts";
import type { SessionStatus } from "./status.ts";
import type { WriterProcess } from "./writer-process.ts";

/** Why lines cannot be kept; the message says what to do about it. */
export class LogError extends Error {
  override readonly name = "LogError";
}

/** Another run writes to the session now, or it was removed: nothing more can be appended. */
export class LogTakenError extends LogError {}

/** What became of a log while it was followed: it is shorter, it is another one, or there is none any more. */
export type LogChange = "cut" | "replaced" | "removed";

/** A log is not any more what it was when the following began; nobody knows what is missing. */
export class LogChangedError extends LogError {
  readonly change: LogChange;

  constructor(change: LogChange, message: string, options?: ErrorOptions) {
    super(message, options);
    this.change = change;
  }
}

/** What is known of a session beside its lines. */
export interface SessionFacts {
  name: string | null;
  /** Of its latest run. */
  cwd: string;
  /** Of its latest run. */
  model: string;
  /** What the processes are known by that the calls of its latest run have started. */
  process_mark: string | null;
}

/**
 * What keeps others from seeing a session's lines for now, or does no more. `behind`: lines are kept here, and wait for the store;
 * `caught_up`: they have arrived; `taken`: another run writes to the session. The message says why, and what to do about it.
 */
export interface LogTrouble {
  kind: "behind" | "caught_up" | "taken";
  message: string;
}

/** Writes one session's log; at most one of them lives at a time. */
export interface LogWriter {
  /** The folder for whole outputs of calls; it need not exist. */
  readonly outputFolder: string;
  /**
   * Appends whole lines, each with its LF, all or none of them. When it returns, the system has them: they outlive this
   * process, however it ends. `durable`: they outlive the machine too, as far as its disks keep their word. Others see them as
   * soon as they are {@link delivered}. Never waits for anything but the disk.
   *
   * After a failure the log ends with the last line that was appended before, as far as the system lets it be cut, and
   * nothing more can be appended. @throws LogError
   */
  append(lines: string | Iterable<string>, durable: boolean): void;
  /**
   * Lets others ask the writer something: `stop`, `send`. Until it is called, a request to a new session's writer waits.
   * @throws AgentError `usage` if another process writes to the session; another error where nobody can be let in, whose message says why.
   */
  serve(handle: ControlHandler): Promise<void>;
  /** Notes what is known of the session. Never rejects: the log says most of it too. */
  describe(facts: SessionFacts): Promise<void>;
  /** What others cannot see for now is told to `tell`, once an outage; one that has begun already, at once. */
  onTrouble(tell: (trouble: LogTrouble) => void): void;
  /**
   * Resolves when others can see all that was appended so far, and, once closed, that nobody writes to the session any more; or, when
   * the signal comes or it turns out that they never will, with what is missing. Once closed, nothing more is tried after the signal.
   * Never rejects.
   */
  delivered(signal: AbortSignal): Promise<LogError | undefined>;
  /** Nothing more is appended; what others cannot see yet goes on to them. Idempotent; never throws. */
  close(): void;
}

/** A line that is no event, although it is not the last. */
export interface BadLine {
  /** From 1. */
  number: number;
  reason: string;
}

/** What reading a log has found beside its events, those of other sessions left out. */
export interface LogReading {
  /** The number of the line that comes next. */
  nextSeq: number;
  /** How many lines could not be read, and the first of them. */
  badLines: number;
  firstBad: BadLine[];
  /** The length of an unfinished last line, in bytes; 0 if there is none. */
  tornBytes: number;
}

export interface ReadOptions {
  /** Ends the reading, with its reason. */
  signal: AbortSignal;
  /**
   * Called for each event in order but deltas, which are previews of what comes with the record. `inherited`: it is a line of
   * the session that this one is a fork of, from before the fork.
   */
  onEvent: (event: LinefeedEvent, inherited: boolean) => void;
}

export interface OpenOptions extends ReadOptions {
  /** Whether a session of another machine may be written to. */
  force: boolean;
}

export interface FollowOptions {
  /** The `seq` of the first line. */
  from: number;
  /** Begin so many whole lines before the end instead. */
  tail?: number | undefined;
  /** Whether to wait for what is written from now on. */
  wait: boolean;
  /** Ends the following, with its reason. */
  signal: AbortSignal;
}

/**
 * How the lines ended: with a last word; without one, since the writer died; or, where nothing was waited for, in the middle
 * of a run. `line` has no LF.
 */
export type LogEnd = { kind: "result"; line: string } | { kind: "lost" } | { kind: "open" };

/** The lines of a session, as bytes: nobody has to parse what is only handed on. */
export interface LogFollowing {
  /**
   * The session's own lines in order, each once and with its LF, several at a time: those that are there, then those that are
   * appended, without a seam. Never a piece of a line. Ends at a last word if no writer lives, or when the writer has died without
   * one, within 2 s; where nothing is waited for, with the last line that is there. What was written before the end is
   * always handed on first. Can be read once. A slow or stopped reader costs the writer nothing, and takes no memory.
   *
   * @throws LogChangedError if the log is cut, removed or replaced; LogError if it cannot be read; the reason of the signal.
   */
  lines(): AsyncGenerator<Buffer, void, undefined>;
  /** What they ended with; known once {@link lines} has ended. */
  readonly end: LogEnd;
}

/** The session that a person means: by what he calls it, or the latest that worked in a folder. */
export type WhichSession = { reference: string } | { latestIn: string };

export interface ListOptions {
  /** Only sessions in these states; undefined: in any. */
  states?: readonly SessionState[] | undefined;
  /** Only sessions whose latest run worked in this folder. */
  cwd?: string | undefined;
  /** Only sessions whose last line was written before this time, in ms since 1970. */
  writtenBefore?: number | undefined;
  /** So many at most. */
  limit?: number | undefined;
  signal: AbortSignal;
}

export interface RemoveOptions {
  /** Whether to remove a session, too, of which nobody here can tell that it has ended. */
  force: boolean;
  signal: AbortSignal;
}

/** The process of a run. */
export interface RunProcess extends WriterProcess {
  /** What the processes are known by that its calls have started. */
  process_mark: string | null;
}

/**
 * Where sessions keep their lines: the port. A log is what was appended to it, in that order, for ever: `seq` counts 1, 2, 3 …
 * through it, and what has been read once reads the same again. tests/sessions/event-log-conformance.ts asks each promise here
 * of each implementation.
 *
 * - An id is a UUID in small letters (`isSessionId`); anything else is a TypeError.
 * - Reading takes memory in proportion to the longest line, not to the log.
 * - A fork begins with the lines of another session, which stay readable with it whatever becomes of that session. They are not in
 *   its log, whose own lines begin with 1; its first `init` says where they end.
 * - A log whose writer died ends with an unfinished line at worst; whoever reads leaves it out, whoever writes cuts it off.
 * - Nothing but a writer changes a session, and `remove`. Looking at it, following it and asking it cost its writer no waiting.
 */
export interface EventLog {
  /**
   * Begins a session, as a fork of `parent` if there is one. From its first line on others can see that its writer lives.
   * @throws AgentError `usage` if there is such a session, `config`, `network` or `io` if the store that others see it in cannot be
   * used; LogError if lines cannot be kept.
   */
  create(id: string, parent?: string): Promise<LogWriter>;
  /**
   * Carries a session on: reads it, and cuts off an unfinished last line.
   * @throws AgentError `usage` if there is no such session, if its writer lives, or if it is another machine's (without
   * `force`); `config` if a newer version wrote it; LogError if it cannot be read or written.
   */
  open(id: string, options: OpenOptions): Promise<{ writer: LogWriter; reading: LogReading }>;
  /**
   * Reads a session, be its writer alive or not, without changing it.
   * @throws AgentError as `open` does, but for writers and machines; LogError if it cannot be read.
   */
  read(id: string, options: ReadOptions): Promise<LogReading>;
  /** Follows a session's log. @throws AgentError `usage` if there is no such session, or it has no log. */
  follow(id: string, options: FollowOptions): Promise<LogFollowing>;
  /**
   * The sign of life: whether a session has a writer. One that is stopped or busy has. `none` for what is no session. Takes about
   * a second at most.
   */
  presence(id: string): Promise<WriterPresence>;
  /**
   * Looks at one session; a damaged one has a status too.
   * @throws AgentError `usage` if there is no such session; the reason of the signal.
   */
  state(id: string, signal: AbortSignal): Promise<SessionStatus>;
  /**
   * Asks the writer of a session; resolves when it has taken the request up.
   * @throws AgentError `not_found` if there is no writer, or it ends; `idle_timeout` (retryable) if it does not answer in time, and
   * then it never acts on the request unless it had begun to; `invalid_request` if it cannot be reached from this machine; `usage` if
   * there is no such session; `io` if the system does not let us ask; what the writer refuses it with; the reason of the signal.
   */
  command(id: string, request: ControlRequest, options: RequestOptions): Promise<void>;
  /** The process of a session's latest run, be it alive or not; undefined if it was on another machine, or is not known. */
  runProcess(id: string): Promise<RunProcess | undefined>;
  /** The sessions that were not removed, the one that was written to last in front. @throws the reason of the signal. */
  list(options: ListOptions): Promise<SessionStatus[]>;
  /** The ids of all sessions, in no order. */
  ids(): Promise<string[]>;
  /**
   * The session that is meant: by its id in letters of any size; its name, which is that of several maybe: then the one that
   * lives, and of those that are left the one written to last; a beginning or an end of its id, of 4 characters at least, that
   * no other has. Or the latest with a log that worked in a folder. A damaged one is found too.
   * @throws AgentError `usage` if there is none, or more than one; its message says how to go on.
   */
  find(which: WhichSession): Promise<string>;
  /** The session with this name that has a writer, the one written to last if there are several; undefined if there is none. */
  liveNamed(name: string): Promise<string | undefined>;
  /**
   * Removes a session that has ended, in one step, while nobody can carry it on. Forks of it keep the lines they have in common.
   *
   * @returns what it was.
   * @throws AgentError `invalid_request` if it has not ended, or nobody can tell; `usage` if there is no such session; `io` if the
   * system does not let it; the reason of the signal.
   */
  remove(id: string, options: RemoveOptions): Promise<SessionStatus>;
}
