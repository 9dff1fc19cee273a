import type { LinefeedEvent } from "../protocol/event.ts";
import type { ControlHandler } from "./control.ts";

/** Why lines cannot be kept; the message says what to do about it. */
export class LogError extends Error {
  override readonly name = "LogError";
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

/** Writes one session's log; at most one of them lives at a time. */
export interface LogWriter {
  /** The folder for whole outputs of calls; it need not exist. */
  readonly outputFolder: string;
  /**
   * Appends whole lines, each with its LF, all or none of them. When it returns, the system has them: they outlive this
   * process, however it ends. `durable`: they outlive the machine too, as far as its disks keep their word.
   *
   * After a failure the log ends with the last line that was appended before, as far as the system lets it be cut, and
   * nothing more can be appended. @throws LogError
   */
  append(lines: string, durable: boolean): void;
  /**
   * Lets others see that the session has a writer, and ask it something: `stop`, `send`. Until it is called, the session looks
   * as if its writer had died, for a new session only.
   * @throws AgentError `usage` if another process writes to the session; NoSocketsError where nobody can be let in.
   */
  serve(handle: ControlHandler): Promise<void>;
  /** Notes what is known of the session. Never rejects: the log says most of it too. */
  describe(facts: SessionFacts): Promise<void>;
  /** Idempotent; never throws. */
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

/**
 * Where sessions keep their lines: the port. A log is what was appended to it, in that order, for ever: `seq` counts 1, 2, 3 …
 * through it, and what has been read once reads the same again.
 *
 * - An id is a UUID in small letters (`isSessionId`); anything else is a TypeError.
 * - Reading takes memory in proportion to the longest line, not to the log.
 * - A fork begins with the lines of another session, which stay readable with it whatever becomes of that session. They are not in
 *   its log, whose own lines begin with 1; its first `init` says where they end.
 * - A log whose writer died ends with an unfinished line at worst; whoever reads leaves it out, whoever writes cuts it off.
 */
export interface EventLog {
  /**
   * Begins a session, as a fork of `parent` if there is one. Synchronous, since nothing may be printed before it.
   * @throws AgentError `usage` if there is such a session; LogError if lines cannot be kept.
   */
  create(id: string, parent?: string): LogWriter;
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
}
