// Reading what a provider sent: nothing in it can be relied on.

export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` if it is an object, else an empty one. */
export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** `value` if it is a string, else the empty one. */
export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value of a JSON text; undefined if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
