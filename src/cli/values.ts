import { isSessionId } from "../sessions/session-id.ts";

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const AGE_UNITS = { ...UNITS, d: 24 * UNITS.h, w: 7 * 24 * UNITS.h } as const;

/** A writer renews what it keeps far more often. */
const SHORTEST_RETENTION_MS = UNITS.m;
const LONGEST_RETENTION_MS = 5200 * AGE_UNITS.w;

/** Of a session, in UTF-16 code units. */
const LONGEST_NAME = 100;

/** As long as a timer of Node can be. */
const LONGEST_MS = 2 ** 31 - 1;

/** An option does not take a value; the message says what it takes. commander knows such errors by their code. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  readonly code = "commander.invalidArgument";
  readonly exitCode = 1;
}

/** A duration in ms: a bare number is seconds; `500ms`, `30s`, `5m`, `1h` are understood. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim());
  if (!match) throw new InvalidValue("Write seconds, or 500ms, 30s, 5m, 1h.");
  const unit = Object.entries(UNITS).find(([name]) => name === (match[2] ?? "s"));
  const ms = Number(match[1]) * (unit?.[1] ?? 1000);
  if (ms > LONGEST_MS) throw new InvalidValue("The longest time is 24 days.");
  return ms;
}

/** A duration of which zero would make no sense. */
export function parsePositiveDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms <= 0) throw new InvalidValue("It must be more than zero.");
  return ms;
}

/** A span of days or weeks too, in ms. The unit must be there: a bare number of days would be taken for seconds. */
export function parseAge(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(text.trim());
  const unit = Object.entries(AGE_UNITS).find(([name]) => name === match?.[2]);
  if (!match || !unit) throw new InvalidValue("Write a number with its unit: 12h, 30d, 4w.");
  return Number(match[1]) * unit[1];
}

/** How long something is kept, in ms: longer than a run may be silent. */
export function parseRetention(text: string): number {
  const ms = parseAge(text);
  if (ms < SHORTEST_RETENTION_MS) throw new InvalidValue("It must be a minute at least, 1m.");
  if (ms > LONGEST_RETENTION_MS)
    throw new InvalidValue("The longest is 5200 weeks; leave it out to keep all.");
  return Math.round(ms);
}

/** A whole number from `least` on, up to `most`. */
export function parseCount(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d[\d_]*$/.test(text.trim()) ? Number(text.trim().replaceAll("_", "")) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      const end = most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`;
      throw new InvalidValue(`Write a whole number from ${least} ${end}.`);
    }
    return value;
  };
}

/** An amount of money above zero. */
export function parseDollars(text: string): number {
  const dollars = /^\d*\.?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(dollars > 0)) throw new InvalidValue("Write a number above zero, such as 2.50.");
  return dollars;
}

/** How many times faster waits pass: `recorded` is 1, `full` is `Infinity`. */
export function parseSpeed(text: string): number {
  if (text === "recorded") return 1;
  if (text === "full") return Infinity;
  const speed = /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(speed > 0)) throw new InvalidValue("Write full, recorded, or a number above zero.");
  return speed;
}

/** A UUID, in small letters. */
export function parseSessionId(text: string): string {
  const id = text.trim().toLowerCase();
  if (!isSessionId(id)) throw new InvalidValue("Write a UUID, such as 019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97.");
  return id;
}

/** What a person calls a session: one line, so that it fits into a list. */
export function parseSessionName(text: string): string {
  const name = text.trim();
  if (name === "") throw new InvalidValue("It is empty.");
  if (name.length > LONGEST_NAME) throw new InvalidValue(`It has more than ${LONGEST_NAME} characters.`);
  if (/\p{Cc}|[\u2028\u2029]/u.test(name)) throw new InvalidValue("It has control characters in it.");
  return name;
}

/** One of a list of words, also in camelCase. */
export function parseWord<Word extends string>(
  words: readonly Word[],
  more: Record<string, Word> = {},
): (text: string) => Word {
  return (text) => {
    const kebab = text.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const word = words.find((candidate) => candidate === text || candidate === kebab) ?? more[text];
    if (word === undefined) throw new InvalidValue(`Choose one of ${words.join(", ")}.`);
    return word;
  };
}

/** Collects an option that may be repeated. */
export function collect(text: string, before: unknown): string[] {
  const words: unknown[] = Array.isArray(before) ? before : [];
  return [...words.filter((word) => typeof word === "string"), text];
}

/** The words of lists separated by commas or spaces, without repeats. */
export function splitList(lists: readonly string[]): string[] {
  return [...new Set(lists.flatMap((list) => list.split(/[\s,]+/)).filter((word) => word !== ""))];
}

/** A value of the environment without white space around it; undefined if nothing is left. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}
