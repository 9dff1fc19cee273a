import type { StreamEvent, StreamItem } from "./item.ts";
import { EventReader } from "./event-reader.ts";
import { StreamParser, type StreamOptions } from "./dialects/stream-parser.ts";
import { assertSource, chunksOf, nameOf, type EventSource } from "./source.ts";

export interface ReadOptions extends StreamOptions {
  /** Ends the reading at once, with the signal's reason, even while the source is silent. */
  signal?: AbortSignal | undefined;
}

/** Options under which a reader hands on events only. */
export interface EventsOnly {
  onInvalid: "throw" | "skip";
}

/**
 * Reads events from lines, in order, each as soon as its line is whole.
 *
 * Reads the streams of other agents too, as our events (`dialect`).
 *
 * Nothing that a line holds ends the reading, unless `onInvalid` says so: types that are not known come as
 * `{type: "unknown"}`, lines that are no events as `{type: "invalid"}`; blank lines are passed over. The source is read
 * only as fast as events are taken, and closed when the loop is left. A stream that ends without a `result` ends without
 * an error here: `Transcript` reports it.
 *
 * Throws a TypeError or RangeError at once for an argument that is none; the iterator throws a SourceError if the source
 * fails, an InvalidLineError as `onInvalid` says, and the reason of `signal`.
 */
export function readEvents(
  source: EventSource,
  options: ReadOptions & EventsOnly,
): AsyncGenerator<StreamEvent, void, undefined>;
export function readEvents(
  source: EventSource,
  options?: ReadOptions,
): AsyncGenerator<StreamItem, void, undefined>;
export function readEvents(
  source: EventSource,
  options: ReadOptions = {},
): AsyncGenerator<StreamItem, void, undefined> {
  assertSource(source);
  const parser = new StreamParser(options, nameOf(source));
  return new EventReader(parser, chunksOf(source, options.signal), options.signal);
}
