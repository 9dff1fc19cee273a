import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** What is left of a process after its end gets so long, in ms, between SIGTERM and SIGKILL. */
const REST_GRACE_MS = 1000;
/** The longest wait after SIGKILL, in ms; only a process that is stuck in the kernel is left then. */
export const KILL_MS = 2000;
const POLL_MS = { first: 5, longest: 50 } as const;

const hasProcessTable = existsSync("/proc/self/environ");

/**
 * A process that leads a group of its own, and everything that it has started: on Linux all that carry the mark in their
 * environment, wherever they went; elsewhere the group.
 */
export class ProcessTree {
  readonly #pid: number;
  readonly #mark: string;
  #leaderLives = true;

  constructor(pid: number, mark: string) {
    this.#pid = pid;
    this.#mark = mark;
  }

  /** The number of the group must not be used for long after this: it may soon be a stranger's. */
  leaderExited(): void {
    this.#leaderLives = false;
  }

  /** Sends a signal to the process and its group. */
  signal(name: NodeJS.Signals): void {
    if (!this.#leaderLives) return;
    send(-this.#pid, name);
    // A stopped process acts on a signal only when it goes on.
    send(-this.#pid, "SIGCONT");
  }

  /** Ends all of it, at once. */
  kill(): void {
    if (this.#leaderLives) send(-this.#pid, "SIGKILL");
    for (const target of this.#rest()) send(target, "SIGKILL");
  }

  /** Ends what the process has left behind. Resolves when it is gone, at the latest after 3 s; never rejects. */
  async endRest(): Promise<void> {
    if (await this.#signalUntilGone("SIGTERM", REST_GRACE_MS)) return;
    await this.#signalUntilGone("SIGKILL", KILL_MS);
  }

  async #signalUntilGone(name: "SIGTERM" | "SIGKILL", limitMs: number): Promise<boolean> {
    const end = performance.now() + limitMs;
    const signalled = new Set<number>();
    let emptyScans = 0;
    for (let wait: number = POLL_MS.first; ; wait = Math.min(wait * 2, POLL_MS.longest)) {
      const rest = this.#rest();
      // A process may fork and exit while the table is read, so that the scan sees neither it nor its child.
      emptyScans = rest.length === 0 ? emptyScans + 1 : 0;
      if (emptyScans === 2) return true;
      for (const target of rest) {
        if (name === "SIGTERM" && signalled.has(target)) continue;
        signalled.add(target);
        send(target, name);
      }
      if (rest.length > 0 && performance.now() >= end) return false;
      await delay(emptyScans > 0 ? POLL_MS.first : wait);
    }
  }

  /** Process numbers, or the group as a negative one. */
  #rest(): number[] {
    if (!hasProcessTable) return send(-this.#pid, 0) ? [-this.#pid] : [];
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(this.#mark))
      .map(Number);
  }
}

/** Empty for a process that is gone, that has exited and waits to be collected, or that is another user's. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/** False: there is no such process, or it is not ours. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

const living = new Set<ProcessTree>();
const endLiving = () => {
  for (const tree of living) tree.signal("SIGTERM");
};

/** Until `forget`, the end of this process ends that one too. */
export function endWithUs(tree: ProcessTree): { forget(): void } {
  if (living.size === 0) process.on("exit", endLiving);
  living.add(tree);
  return {
    forget() {
      living.delete(tree);
      if (living.size === 0) process.off("exit", endLiving);
    },
  };
}
