/** One step of an answer; what it names is done in the order of the fields. A text is `{ text }`. */
export type FakeStep =
  | string
  | {
      /** Waits first, in ms. */
      wait?: number;
      /** Writes text. */
      text?: string;
      /** Writes bytes, given in hexadecimal: to cut a character in two, say. */
      hex?: string;
      bytes?: Uint8Array;
      /** Resets the connection. */
      reset?: boolean;
      /** Sends nothing more and keeps the connection open. */
      stall?: boolean;
    };

/** Where an answer's bytes are cut into network writes, whatever its steps. */
export interface Cuts {
  /** Positions in the bytes of the whole answer. */
  cutAt?: readonly number[];
  /** After so many bytes each. */
  cutEvery?: number;
  /**
   * How long to wait after each write, in ms, so that the client reads it by itself: two that come close
   * together may well become one read. Default: one turn of the event loop.
   */
  pause?: number;
}

/** What is done with the connection: bytes to write, ms to wait, or its end. */
export type FakeWrite = Uint8Array | number | "reset" | "stall";

/** The steps as single acts, with the cuts made. */
export function writesOf(steps: readonly FakeStep[], cuts: Cuts): FakeWrite[] {
  const isCut = cutter(cuts);
  const writes: FakeWrite[] = [];
  let position = 0;
  for (const act of steps.flatMap(acts)) {
    if (!(act instanceof Uint8Array)) {
      writes.push(act);
      continue;
    }
    let begin = 0;
    for (let end = 1; end <= act.length; end += 1) {
      if (end < act.length && !isCut(position + end)) continue;
      writes.push(act.subarray(begin, end));
      begin = end;
    }
    position += act.length;
  }
  return writes;
}

function acts(step: FakeStep): FakeWrite[] {
  if (typeof step === "string") return [Buffer.from(step)];
  const { wait, text, hex, bytes, reset, stall } = step;
  return [
    ...(wait === undefined ? [] : [wait]),
    ...(text === undefined ? [] : [Buffer.from(text)]),
    ...(hex === undefined ? [] : [Buffer.from(hex, "hex")]),
    ...(bytes === undefined ? [] : [bytes]),
    ...(reset === true ? ["reset" as const] : []),
    ...(stall === true ? ["stall" as const] : []),
  ];
}

function cutter({ cutAt, cutEvery }: Cuts): (position: number) => boolean {
  const positions = new Set(cutAt);
  return (position) => positions.has(position) || (cutEvery !== undefined && position % cutEvery === 0);
}
