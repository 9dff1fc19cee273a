import { dirname } from "node:path";
import type { EventBody } from "../protocol/event.ts";
import type { RunOptions } from "./options.ts";
import { VERSION } from "./version.ts";
import { isDelta } from "../emit/merge.ts";

/** Takes a line about what goes on inside a run, for whoever looks for a fault. Never throws, never blocks. */
export type DebugLog = (topic: "run" | "http" | "event", text: string) => void;

/** How much of an event a debug line shows, in UTF-16 code units. */
const EVENT_UNITS = 400;

/** Tells of an event as it happens, before it is merged, numbered and written; not of deltas. */
export function debugEvent(debug: DebugLog, body: EventBody): void {
  if (isDelta(body)) return;
  const text = JSON.stringify(body);
  debug("event", text.length > EVENT_UNITS ? `${text.slice(0, EVENT_UNITS).toWellFormed()}…` : text);
}

/** Tells what a run is: no secrets, no prompt. */
export function debugRun(debug: DebugLog, options: RunOptions): void {
  for (const line of describe(options)) debug("run", line);
}

function describe({ provider, model, session, cwd, permissionMode, allow, deny }: RunOptions): string[] {
  const rules = (list: typeof allow) => list.map(({ text }) => text).join(" ") || "none";
  return [
    `linefeed ${VERSION}, Node ${process.version}, ${process.platform} ${process.arch}, process ${process.pid}`,
    `provider ${provider.name}, model ${model}`,
    `session ${session.id}, next seq ${session.nextSeq}, log in ${session.log ? dirname(session.log.outputFolder) : "no file"}`,
    `cwd ${cwd}, permission mode ${permissionMode}, allowed: ${rules(allow)}, denied: ${rules(deny)}`,
  ];
}
