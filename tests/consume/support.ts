import { encode } from "../../src/emit/encode.ts";
import { createStamp } from "../../src/emit/stamp.ts";
import { readEvents, type ReadOptions, type StreamItem } from "../../src/consume/index.ts";
import type { EventBody, EventBodyOf, LinefeedEvent } from "../../src/protocol/event.ts";
import { arriving } from "../support/cut.ts";

/** Stamps bodies as a run does. */
export function stamped(bodies: readonly EventBody[], firstSeq = 1): LinefeedEvent[] {
  const stamp = createStamp({ sessionId: "s", firstSeq, date: () => new Date(0) });
  return bodies.map(stamp);
}

/** The lines of events, as a run writes them. */
export function linesOf(events: readonly LinefeedEvent[]): string {
  return events.map(encode).join("");
}

export function toBytes(...parts: (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

/** Everything that is read from pieces. */
export async function readAll(
  chunks: Iterable<Uint8Array | string>,
  options: ReadOptions = {},
): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  for await (const item of readEvents(arriving(chunks), options)) items.push(item);
  return items;
}

export const notice = (message: string): EventBody => ({
  type: "notice",
  level: "info",
  code: "stdin_ignored",
  message,
});

export const init: EventBodyOf<"init"> = {
  type: "init",
  protocol: 1,
  version: "0.1.0",
  model: "fake",
  provider: "fake",
  cwd: "/",
  tools: [],
  permission_mode: "default",
  resumed: false,
};

export const result: EventBodyOf<"result"> = {
  type: "result",
  status: "ok",
  exit_code: 0,
  text: null,
  error: null,
  stop_reason: null,
  turns: 0,
  steps: 0,
  usage: null,
  usage_by_model: {},
  duration_ms: 0,
  api_duration_ms: 0,
  permission_denials: [],
  children_left: [],
  signal: null,
  synthetic: false,
};
