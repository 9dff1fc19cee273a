import type { ScriptAnswer } from "./script.ts";

/** The size of a piece where a script names none: as small as those of real models. In UTF-16 units. */
export const CHUNK_CHARACTERS = 4;

/** One delta as it came. */
export interface Piece {
  /** The wait before it, in ms. */
  waitMs: number;
  /** Its length in UTF-16 units. */
  units: number;
}

type Cadence = Pick<ScriptAnswer, "first_delay_ms" | "delay_ms" | "last_delay_ms" | "chunk_characters">;

/**
 * How an answer came, as a script says it: in numbers where all pieces or waits are alike, in lists where
 * they are not. `texts` are those of its blocks, `lastMs` the wait after the last piece.
 */
export function cadence(pieces: readonly Piece[], texts: readonly string[], lastMs: number): Cadence {
  const [first, ...rest] = pieces.map(({ waitMs }) => waitMs);
  return {
    ...nonZero("first_delay_ms", first ?? 0),
    ...delays(rest),
    ...nonZero("last_delay_ms", lastMs),
    ...sizes(pieces, texts),
  };
}

function nonZero(name: "first_delay_ms" | "last_delay_ms", ms: number): Cadence {
  return ms === 0 ? {} : { [name]: ms };
}

function delays(waits: readonly number[]): Cadence {
  const count = waits.findLastIndex((ms) => ms > 0) + 1;
  const [first] = waits;
  if (count === 0 || first === undefined) return {};
  return { delay_ms: waits.every((ms) => ms === first) ? first : waits.slice(0, count) };
}

function sizes(pieces: readonly Piece[], texts: readonly string[]): Cadence {
  const units = pieces.map((piece) => piece.units);
  if (isEven(units, texts, CHUNK_CHARACTERS)) return {};
  const largest = units.reduce((most, size) => Math.max(most, size), 0);
  return { chunk_characters: isEven(units, texts, largest) ? largest : units };
}

/** Whether the pieces are what cutting each text after every `size` units gives. */
function isEven(units: readonly number[], texts: readonly string[], size: number): boolean {
  let piece = 0;
  for (const { length } of texts) {
    for (let begin = 0; begin < length; begin += size) {
      if (units[piece] !== Math.min(size, length - begin)) return false;
      piece += 1;
    }
  }
  return piece === units.length;
}
