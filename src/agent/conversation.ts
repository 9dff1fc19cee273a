import { History } from "./history.ts";

/** What a session has come to: what its next run goes on from. */
export class Conversation {
  readonly history: History;
  /** Turns and steps so far; both count through the whole session. */
  turns: number;
  steps: number;

  constructor(history = new History(), turns = 0, steps = 0) {
    this.history = history;
    this.turns = turns;
    this.steps = steps;
  }

  /**
   * The same for the next run, fit to be sent: a call that a run left without a result gets one. Whatever
   * still happens to this one, the other does not see.
   */
  next(): Conversation {
    return new Conversation(this.history.closed(), this.turns, this.steps);
  }
}
