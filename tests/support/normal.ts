import type { LinefeedEvent } from "../../src/protocol/event.ts";

const TIMES = new Set(["ts", "duration_ms", "api_duration_ms", "ttft_ms", "elapsed_ms", "delay_ms"]);

/**
 * The events of a run without ids and times; the deltas of a block, or of a call's stream, as one; the events of
 * calls that ran side by side call by call.
 */
export function withoutChance(events: readonly LinefeedEvent[]): Record<string, unknown>[] {
  const normal: Record<string, unknown>[] = [];
  for (const event of callByCall(events)) {
    const fields = Object.entries(event).filter(
      ([name]) => !TIMES.has(name) && name !== "seq" && name !== "session_id",
    );
    const body: Record<string, unknown> = Object.fromEntries(fields);
    const last = normal.at(-1);
    if (last && isDeltaOf(body) && sameBlock(last, body)) last[textField(body)] = joined(last, body);
    else normal.push(body);
  }
  return normal;
}

function callByCall(events: readonly LinefeedEvent[]): LinefeedEvent[] {
  const ordered: LinefeedEvent[] = [];
  let calls: Map<string, LinefeedEvent[]> = new Map();
  for (const event of events) {
    const call =
      event.type.startsWith("tool_") && event.type !== "tool_input_delta" ? callOf(event) : undefined;
    if (call !== undefined) {
      calls.set(call, [...(calls.get(call) ?? []), event]);
      continue;
    }
    ordered.push(...sorted(calls), event);
    calls = new Map();
  }
  return [...ordered, ...sorted(calls)];
}

const callOf = (event: LinefeedEvent) => ("tool_use_id" in event ? event.tool_use_id : undefined);
const sorted = (calls: ReadonlyMap<string, LinefeedEvent[]>) =>
  [...calls].toSorted(([a], [b]) => a.localeCompare(b)).flatMap(([, events]) => events);

const isDeltaOf = ({ type }: Record<string, unknown>) => String(type).endsWith("_delta");
const textField = ({ type }: Record<string, unknown>) =>
  type === "tool_input_delta" ? "partial_json" : "text";
const joined = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  `${String(a[textField(a)])}${String(b[textField(b)])}`;
const sameBlock = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  ["type", "step", "block", "tool_use_id", "stream"].every((name) => a[name] === b[name]);
