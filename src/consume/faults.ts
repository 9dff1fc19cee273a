/** What can be wrong with a stream as a whole, each with what it means; the documentation is made from this table. */
export const FAULT_KINDS = {
  invalid_line: "A line was no event.",
  gap: "Lines are missing: `seq` jumps.",
  out_of_order:
    "A line came after later ones; it was left out, since what was said after it cannot be taken back.",
  other_session: "The lines of another session begin in the middle of the stream.",
  missing_result: "A run ends without its `result`: the writer died, or its output was cut off.",
  mismatch: "A `message` is not what its deltas said; the message counts.",
  usage_mismatch: "The tokens of a `turn_end` or `result` are not the sum over its lines.",
} as const satisfies Record<string, string>;
export type FaultKind = keyof typeof FAULT_KINDS;

/** Something that is wrong with a stream. Found, not thrown: what can be read is read. */
export interface TranscriptFault {
  kind: FaultKind;
  /** For a person. */
  message: string;
  /** The `seq` of the line where it was found; null where it has none. */
  seq: number | null;
}
