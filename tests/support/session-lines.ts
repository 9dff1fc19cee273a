import { readFileSync } from "node:fs";
import { createStamp } from "../../src/emit/stamp.ts";
import { encode } from "../../src/emit/encode.ts";
import type { EventType } from "../../src/protocol/events.ts";
import { parseLines } from "./lint.ts";

const ANSWER = parseLines(readFileSync("examples/streams/plain-answer.jsonl"));

/** The lines of a session, made to order; `seq` counts through them. */
export class SessionLines {
  readonly #stamp: ReturnType<typeof createStamp>;

  constructor(sessionId: string, firstSeq = 1) {
    this.#stamp = createStamp({ sessionId, firstSeq, date: () => new Date() });
  }

  /** The next line: that of this type in an example, with other fields maybe. */
  line(type: EventType, fields: object = {}): string {
    const event = ANSWER.find((one) => one.type === type);
    if (!event) throw new Error(`the example has no ${type}`);
    const { seq: _seq, ts: _ts, session_id: _id, ...body } = event;
    return encode(this.#stamp({ ...body, ...fields }));
  }

  notice(message: string): string {
    return encode(this.#stamp({ type: "notice", level: "info", code: "instructions_used", message }));
  }

  lines(...types: EventType[]): string {
    return types.map((type) => this.line(type)).join("");
  }

  deltas(count: number): string[] {
    return Array.from({ length: count }, (_, index) => this.line("text_delta", { text: `${index} ä 🫖` }));
  }

  /** A whole run of one answer. */
  run(result: object = {}): string {
    const turn = this.lines(
      "init",
      "turn_start",
      "step_start",
      "text_delta",
      "message",
      "step_end",
      "turn_end",
    );
    return turn + this.line("result", result);
  }
}
