import { encode } from "../encode.ts";
import type { Format } from "./format.ts";

/** Each event as one line of JSON. */
export function jsonlFormat(): Format {
  return { event: encode, addsLines: true };
}
