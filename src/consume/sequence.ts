import type { TranscriptFault } from "./faults.ts";

/** A stretch of numbers that were left out, both ends included. */
interface Gap {
  from: number;
  to: number;
}

/**
 * Follows `seq` through a stream. A line is a repeat if its number was there before, and only then: two lines with the
 * same text and different numbers are two lines.
 */
export class Sequence {
  readonly #report: (fault: TranscriptFault) => void;
  #sessionId: string | null | undefined;
  #latest: number | undefined;
  #gaps: Gap[] = [];

  constructor(report: (fault: TranscriptFault) => void) {
    this.#report = report;
  }

  /** The latest number; undefined before the first. */
  get latest(): number | undefined {
    return this.#latest;
  }

  /** The session of the latest line that is in a log. */
  get sessionId(): string | null | undefined {
    return this.#sessionId;
  }

  /** Whether a line belongs at the end of what was there so far. Lines with `seq` 0 are in no log, and always do. */
  isNext(seq: number, sessionId: string | null): boolean {
    if (seq === 0) return true;
    this.#enterSession(sessionId, seq);
    const latest = this.#latest;
    if (latest === undefined || seq === latest + 1) {
      this.#latest = seq;
      return true;
    }
    if (seq > latest) {
      this.#skip(latest + 1, seq - 1, seq);
      this.#latest = seq;
      return true;
    }
    this.#checkLate(seq);
    return false;
  }

  #enterSession(sessionId: string | null, seq: number): void {
    if (this.#sessionId !== undefined && sessionId !== this.#sessionId) {
      const message = `the session changes from ${this.#sessionId} to ${sessionId}`;
      this.#report({ kind: "other_session", message, seq });
      this.#latest = undefined;
      this.#gaps = [];
    }
    this.#sessionId = sessionId;
  }

  #skip(from: number, to: number, seq: number): void {
    this.#gaps.push({ from, to });
    const missing = from === to ? `line ${from} is` : `lines ${from} to ${to} are`;
    this.#report({ kind: "gap", message: `${missing} missing`, seq });
  }

  #checkLate(seq: number): void {
    const at = this.#gaps.findIndex(({ from, to }) => from <= seq && seq <= to);
    const gap = this.#gaps[at];
    if (!gap) return;
    const halves = [
      { from: gap.from, to: seq - 1 },
      { from: seq + 1, to: gap.to },
    ];
    this.#gaps.splice(at, 1, ...halves.filter(({ from, to }) => from <= to));
    this.#report({ kind: "out_of_order", message: `line ${seq} comes after line ${this.#latest}`, seq });
  }
}
