import type { LinefeedEvent } from "../../protocol/event.ts";

/** How events become the bytes on stdout. */
export interface Format {
  /** What the event adds to stdout; undefined: nothing. */
  event(event: LinefeedEvent): string | undefined;
}
