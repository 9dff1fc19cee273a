import { encode } from "../encode.ts";
import type { Format } from "./format.ts";

/** The `result` alone, as one line of JSON at the end. */
export function jsonFormat(): Format {
  return { event: (event) => (event.type === "result" ? encode(event) : undefined) };
}
