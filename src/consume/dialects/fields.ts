import { isObject } from "../schema-check.ts";

/** A line of another agent, or a part of it: nothing about it is certain. */
export type Fields = Readonly<Record<string, unknown>>;

/** A line that is known lacks what it cannot do without. Never leaves the conversion: the line becomes `invalid`. */
export class WrongField extends Error {
  override readonly name = "WrongField";
}

/** Text that must be there. Throws a WrongField. */
export function needText(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw new WrongField(`${name}: not a string`);
}

/** An object that must be there. Throws a WrongField. */
export function needObject(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (isObject(value)) return value;
  throw new WrongField(`${name}: not an object`);
}

/** A list that must be there. Throws a WrongField. */
export function needList(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (Array.isArray(value)) return value;
  throw new WrongField(`${name}: not an array`);
}

/** Text, or null where there is none. */
export function textOf(fields: Fields | undefined, name: string): string | null {
  const value = fields?.[name];
  return typeof value === "string" ? value : null;
}

/** Text that says something, or null. */
export function wordOf(fields: Fields | undefined, name: string): string | null {
  const text = textOf(fields, name);
  return text === "" ? null : text;
}

export function objectOf(fields: Fields | undefined, name: string): Fields | undefined {
  const value = fields?.[name];
  return isObject(value) ? value : undefined;
}

/** The objects of a list; none where there is no list. */
export function objectsOf(fields: Fields | undefined, name: string): Fields[] {
  const value = fields?.[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The words of a list, or null where there is none. */
export function wordsOf(fields: Fields, name: string): string[] | null {
  const value = fields[name];
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === "string") : null;
}

/** A whole number from 0, rounded; null where there is none. */
export function countOf(fields: Fields | undefined, name: string): number | null {
  const value = fields?.[name];
  if (typeof value !== "number" || !(value >= 0)) return null;
  const rounded = Math.round(value);
  return Number.isSafeInteger(rounded) ? rounded : null;
}

/** A time as our lines have it, from a text of ISO 8601 or from milliseconds since 1970; null for anything else. */
export function timeOf(fields: Fields | undefined, name: string): string | null {
  const value = fields?.[name];
  if (typeof value !== "string" && typeof value !== "number") return null;
  const date = new Date(value);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : null;
}

/** How long something took, in ms, where both times are told. */
export function elapsed(time: Fields | undefined): number | null {
  const start = time?.["start"];
  const end = time?.["end"];
  if (typeof start !== "number" || typeof end !== "number") return null;
  return countOf({ ms: end - start }, "ms");
}
