import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type { LinefeedEvent } from "../../../src/protocol/event.ts";
import type { ControlHandler } from "../../../src/sessions/control.ts";
import type {
  EventLog,
  FollowOptions,
  LogChange,
  LogReading,
  LogWriter,
} from "../../../src/sessions/event-log.ts";
import type { AskedProcess } from "../../support/asked-process.ts";
import { SessionLines } from "../../support/session-lines.ts";

/** What a session that a test leaves there is known by. */
export interface Left {
  id?: string;
  name?: string;
  cwd?: string;
  /** How long ago its last line was written, in ms. Default: a minute. */
  ageMs?: number;
  /** Whether another machine wrote it. */
  elsewhere?: boolean;
}

/** A place for sessions that a test has for itself: what the suite needs beside the port. */
export interface Place {
  /** A door to the place; each is as another process's. */
  log(): EventLog;
  /** A process with a door of its own, that does what log-writer.mjs says. */
  writer(): Promise<AskedProcess>;
  /** Leaves a session there as a writer that has ended left it; undefined: one without a log. Returns its id. */
  leave(lines: string | Buffer | undefined, left?: Left): Promise<string>;
  /** All that is kept of a session's lines. */
  bytes(id: string): Promise<Buffer>;
  /** Does what nobody should do to a log. */
  harm(id: string, change: LogChange): Promise<void>;
  /** Makes a session look as if its last line were so old. */
  age(id: string, ageMs: number): Promise<void>;
  /**
   * Whether a writer is seen from every machine: then none is in doubt, and nobody has to force anything. Such a place has whole lines only.
   */
  seesAllMachines: boolean;
  /** After so long at the latest a writer that was killed is seen to be gone, in ms. */
  goneAfterMs: number;
}

export type NewPlace = () => Place;

/** A signal that never comes. */
export const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

export const newId = () => randomUUID();

/** A session that this process writes to, until the test is over. */
export async function begin(
  place: Place,
  { id = newId(), parent }: { id?: string; parent?: string } = {},
): Promise<{ id: string; writer: LogWriter; lines: SessionLines }> {
  const writer = await place.log().create(id, parent);
  onTestFinished(() => closed(writer));
  return { id, writer, lines: new SessionLines(id) };
}

/** One that can be asked, too, and has begun. */
export async function live(
  place: Place,
  {
    name = null,
    cwd = "/w",
    handle = () => undefined,
  }: { name?: string | null; cwd?: string; handle?: ControlHandler } = {},
): ReturnType<typeof begin> {
  const begun = await begin(place);
  await append(begun.writer, begun.lines.line("init"), false);
  await begun.writer.describe({ name, cwd, model: "m", process_mark: null });
  await begun.writer.serve(handle);
  await settled(begun.writer);
  return begun;
}

/** Appends lines that others can see then. */
export async function append(writer: LogWriter, lines: string, durable: boolean): Promise<void> {
  writer.append(lines, durable);
  await settled(writer);
}

/** Closes a writer, which others know then. */
export async function closed(writer: LogWriter): Promise<void> {
  writer.close();
  await settled(writer);
}

async function settled(writer: LogWriter): Promise<void> {
  expect(await writer.delivered(NEVER)).toBeUndefined();
}

/** Kills a writer, which others know then. */
export async function killed(place: Place, id: string, process: AskedProcess): Promise<void> {
  await process.kill();
  const end = performance.now() + place.goneAfterMs;
  while (performance.now() < end && (await place.log().presence(id)) !== "none") await delay(50);
}

/** A session that another process writes to. */
export async function liveElsewhere(
  place: Place,
  { serves = true }: { serves?: boolean } = {},
): Promise<{ id: string; lines: SessionLines; process: AskedProcess }> {
  const id = newId();
  const lines = new SessionLines(id);
  const process = await place.writer();
  await process.do("create", { id });
  await process.do("append", { lines: lines.line("init") });
  if (serves) await process.do("serve");
  return { id, lines, process };
}

/** What reading says, and the events that it meets. */
export async function readAll(
  log: EventLog,
  id: string,
): Promise<{ reading: LogReading; own: LinefeedEvent[]; inherited: LinefeedEvent[] }> {
  const [own, inherited]: [LinefeedEvent[], LinefeedEvent[]] = [[], []];
  const onEvent = (event: LinefeedEvent, isInherited: boolean) =>
    void (isInherited ? inherited : own).push(event);
  const reading = await log.read(id, { signal: NEVER, onEvent });
  return { reading, own, inherited };
}

/** Carries a session on, until the test is over. */
export async function reopen(log: EventLog, id: string, force = false): ReturnType<EventLog["open"]> {
  const opened = await log.open(id, { force, signal: NEVER, onEvent: () => undefined });
  onTestFinished(() => closed(opened.writer));
  return opened;
}

/** Follows a session to its end. `onLines` may take its time. */
export async function followAll(
  log: EventLog,
  id: string,
  options: Partial<FollowOptions> = {},
  onLines: (lines: Buffer) => Promise<void> | void = () => undefined,
): Promise<{ text: string; end: string }> {
  const following = await log.follow(id, { from: 1, wait: true, signal: NEVER, ...options });
  const pieces: Buffer[] = [];
  for await (const lines of following.lines()) {
    if (lines.at(-1) !== 0x0a) throw new Error("a piece of a line was handed on");
    pieces.push(lines);
    await onLines(lines);
  }
  return { text: Buffer.concat(pieces).toString("utf8"), end: following.end.kind };
}

/** What must be thrown: its code, and what its message says. */
export const failing = (code: string, message: string | RegExp = "") => ({
  code,
  message: expect.stringMatching(message) as string,
});
