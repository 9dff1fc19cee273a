import { setTimeout as delay } from "node:timers/promises";
import { MARK_VARIABLE } from "../protocol/process-mark.ts";
import { forgetGroup, groupLives, rememberedGroups, type ProcessGroup } from "./process-groups.ts";
import {
  commandOf,
  environmentOf,
  hasProcessTable,
  livingProcesses,
  ownStartTime,
  type ProcessEntry,
} from "./process-table.ts";

/** The time in ms that processes get between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;
/** The longest wait in ms after SIGKILL; only a process stuck in the kernel, or another user's, is left then. */
const KILL_MS = 2000;
const POLL_MS = { first: 5, longest: 50 } as const;

/** A living process that a call has started. */
export interface Survivor {
  pid: number;
  command: string;
  toolUseId: string;
}

interface Target extends Survivor {
  /** Names the process for good. */
  key: string;
  send(signal: NodeJS.Signals): void;
}

/** The environment of a call's processes: `env` with the mark added to those of any run around this one. */
export function markedEnvironment(
  env: NodeJS.ProcessEnv,
  mark: string,
  toolUseId: string,
): NodeJS.ProcessEnv {
  const outer = env[MARK_VARIABLE];
  const own = `${mark}:${encodeURIComponent(toolUseId.toWellFormed())}`;
  return { ...env, [MARK_VARIABLE]: outer ? `${outer} ${own}` : own };
}

/**
 * The living processes that the calls of a run (or one call of it) have started.
 *
 * On Linux these are all that carry the run's mark, that are in the group or session of a call's shell, and
 * the descendants of both; only one that left the group, cleared its environment and lost its parent is
 * missed. Elsewhere it is one entry for each process group that still has members.
 */
export function survivors(mark: string, toolUseId?: string): Survivor[] {
  return targets(mark, toolUseId).map(asSurvivor);
}

/**
 * Ends the living processes of a run, or of one call of it: SIGTERM, and SIGKILL to what is left after
 * `graceMs`. Resolves as soon as all are gone, at the latest 2 s after the grace; never rejects.
 *
 * @returns those that could not be ended.
 */
export async function endProcesses(
  mark: string,
  toolUseId?: string,
  graceMs = GRACE_MS,
): Promise<Survivor[]> {
  return endAll(() => targets(mark, toolUseId), graceMs);
}

/**
 * The same for the run of another process, which is gone. Where there is no process table nothing is known of it.
 *
 * @param begun when that process was started, in ticks since boot.
 * @returns those that there were.
 */
export async function endProcessesOfOther(mark: string, begun: number): Promise<Survivor[]> {
  if (!hasProcessTable) return [];
  const find = () => fromTable(mark, undefined, [], begun);
  const found = find().map(asSurvivor);
  if (found.length > 0) await endAll(find, GRACE_MS);
  return found;
}

async function endAll(find: () => Target[], graceMs: number): Promise<Survivor[]> {
  if (await signalUntilGone(find, "SIGTERM", graceMs)) return [];
  if (await signalUntilGone(find, "SIGKILL", KILL_MS)) return [];
  return find().map(asSurvivor);
}

async function signalUntilGone(
  find: () => Target[],
  signal: "SIGTERM" | "SIGKILL",
  limitMs: number,
): Promise<boolean> {
  const end = performance.now() + limitMs;
  const signalled = new Set<string>();
  let emptyScans = 0;
  for (let wait: number = POLL_MS.first; ; wait = Math.min(wait * 2, POLL_MS.longest)) {
    const living = find();
    emptyScans = living.length === 0 ? emptyScans + 1 : 0;
    // A process may fork and exit while the table is read, so that the scan sees neither it nor its child.
    if (emptyScans === 2) return true;
    for (const target of living) {
      if (signal === "SIGTERM" && signalled.has(target.key)) continue;
      signalled.add(target.key);
      target.send(signal);
      // A stopped process acts on SIGTERM only when it goes on.
      if (signal === "SIGTERM") target.send("SIGCONT");
    }
    if (living.length > 0 && performance.now() >= end) return false;
    await delay(emptyScans > 0 ? POLL_MS.first : wait);
  }
}

function targets(mark: string, toolUseId: string | undefined): Target[] {
  const groups = rememberedGroups(mark, toolUseId);
  return hasProcessTable ? fromTable(mark, toolUseId, groups, ownStartTime()) : fromGroups(groups);
}

function fromTable(
  mark: string,
  toolUseId: string | undefined,
  groups: readonly ProcessGroup[],
  begun: number,
): Target[] {
  // What is older than the run's process was not started by it; reading only the rest keeps a scan short.
  const table = livingProcesses().filter((entry) => entry.pid !== process.pid && entry.startTime >= begun);
  const owners = new Map<number, string>();
  for (const entry of table) {
    const owner = markedOwner(entry.pid, mark) ?? groupOwner(entry, groups, table);
    if (owner !== undefined) owners.set(entry.pid, owner);
  }
  addDescendants(table, owners);
  const wanted = toolUseId?.toWellFormed();
  return table.flatMap((entry) => {
    const owner = owners.get(entry.pid);
    if (owner === undefined || (wanted !== undefined && owner.toWellFormed() !== wanted)) return [];
    return [{ ...survivor(entry, owner), key: `${entry.pid} ${entry.startTime}`, send: sender(entry.pid) }];
  });
}

function asSurvivor({ pid, command, toolUseId }: Target): Survivor {
  return { pid, command, toolUseId };
}

function survivor(entry: ProcessEntry, toolUseId: string): Survivor {
  return { pid: entry.pid, command: commandOf(entry.pid), toolUseId };
}

function markedOwner(pid: number, mark: string): string | undefined {
  const marks = environmentOf(pid, MARK_VARIABLE)?.split(" ");
  const own = marks?.find((candidate) => candidate.startsWith(`${mark}:`))?.slice(mark.length + 1);
  if (own === undefined) return undefined;
  try {
    return decodeURIComponent(own);
  } catch {
    return own;
  }
}

function groupOwner(
  entry: ProcessEntry,
  groups: readonly ProcessGroup[],
  table: readonly ProcessEntry[],
): string | undefined {
  const group = groups.find(({ id }) => id === entry.group || id === entry.session);
  if (!group) return undefined;
  // The shell is gone, so a process with its number is a stranger, and so is the group it leads.
  const reused = !group.shellRuns && table.some(({ pid }) => pid === group.id);
  return reused ? undefined : group.toolUseId;
}

function addDescendants(table: readonly ProcessEntry[], owners: Map<number, string>): void {
  for (let before = -1; before !== owners.size;) {
    before = owners.size;
    for (const entry of table) {
      const owner = owners.get(entry.parent);
      if (owner !== undefined && !owners.has(entry.pid)) owners.set(entry.pid, owner);
    }
  }
}

function fromGroups(groups: readonly ProcessGroup[]): Target[] {
  return groups.flatMap((group) => {
    if (!groupLives(group.id)) {
      if (!group.shellRuns) forgetGroup(group);
      return [];
    }
    const { id, command, toolUseId } = group;
    return [{ pid: id, command, toolUseId, key: String(id), send: sender(-id) }];
  });
}

function sender(pid: number): (signal: NodeJS.Signals) => void {
  return (signal) => {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone in the meantime, or not ours to signal: the next scan tells.
    }
  };
}
