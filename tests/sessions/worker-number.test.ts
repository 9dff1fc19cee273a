import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  starterSocket,
  takeNumber,
  workerSocket,
  type Places,
} from "../../src/sessions/file-log/worker-number.ts";

/** Sockets that processes listen on, as a folder has them: a name leads to one, a second name to the same. */
class Folder {
  readonly names = new Map<string, Listener>();
}

interface Listener {
  isAlive: boolean;
}

/** A process whose every step waits until it is let go on, and that can be killed between any two. */
class Starter {
  #goOn: (() => void) | undefined;
  #listeners: Listener[] = [];
  readonly #folder: Folder;
  readonly #mark: string;
  number: number | undefined;
  isDone = false;

  constructor(folder: Folder, mark: string) {
    this.#folder = folder;
    this.#mark = mark;
    void this.#claim();
  }

  get isHolder(): boolean {
    return this.number !== undefined;
  }

  step(): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  /** As the kernel does it when a process ends, in order or not. */
  end(): void {
    for (const listener of this.#listeners) listener.isAlive = false;
    this.#listeners = [];
    this.number = undefined;
    this.isDone = true;
    this.#goOn = undefined;
  }

  async #claim(): Promise<void> {
    const starter = starterSocket(this.#mark);
    const { names } = this.#folder;
    this.number = await takeNumber(this.#places(), starter, () =>
      this.#atOnce(() => {
        const listener = { isAlive: true };
        this.#listeners.push(listener);
        names.set(starter, listener);
      }),
    );
    if (this.number === undefined) this.end();
  }

  #places(): Places {
    const { names } = this.#folder;
    return {
      names: () => this.#atOnce(() => [...names.keys()]),
      look: (name) =>
        this.#atOnce(() => {
          const listener = names.get(name);
          return listener === undefined ? "none" : listener.isAlive ? "alive" : "dead";
        }),
      link: (from, to) =>
        this.#atOnce(() => {
          const listener = names.get(from);
          if (!listener) return "gone";
          if (names.has(to)) return "taken";
          names.set(to, listener);
          return "linked";
        }),
      remove: (name) => this.#atOnce(() => void names.delete(name)),
    };
  }

  async #atOnce<T>(action: () => T): Promise<T> {
    await new Promise<void>((goOn) => (this.#goOn = goOn));
    return action();
  }
}

const settled = async () => {
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
};

/** Lets one process go on, at the most until it holds the session or has lost. */
async function goOn(starter: Starter | undefined, steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    if (!starter || starter.isDone || starter.isHolder) return;
    await settled();
    starter.step();
    await settled();
  }
}

/** One process goes on for some steps, which may take it all the way, and then may end. */
const move = fc.record({
  who: fc.nat({ max: 2 }),
  steps: fc.nat({ max: 12 }),
  ends: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

describe("taking a number", () => {
  it("LG-03: never gives a session to two processes, in whatever order they go on and end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 8, maxLength: 30 }), async (moves) => {
        const folder = new Folder();
        folder.names.set(workerSocket(3), { isAlive: false });
        let count = 0;
        const next = () => new Starter(folder, String((count += 1)));
        const running = [next(), next(), next()];
        for (const { who, steps, ends } of moves) {
          await goOn(running[who], steps);
          expect(running.filter(({ isHolder }) => isHolder).length).toBeLessThan(2);
          if (!ends && !running[who]?.isDone) continue;
          running[who]?.end();
          running[who] = next();
        }
        // Nothing that they left stands in the way of the next one.
        for (const starter of running) starter.end();
        const last = next();
        await goOn(last, 100);
        expect(last.isHolder).toBe(true);
        expect([...folder.names.keys()]).toEqual([workerSocket(last.number ?? 0)]);
      }),
      { numRuns: 2000 },
    );
  });

  it("LG-03: gives a session whose writer is dead to one of those that try, if none of them ends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 4 }), { maxLength: 60 }), async (moves) => {
        const folder = new Folder();
        folder.names.set(workerSocket(1), { isAlive: false });
        const running = Array.from({ length: 5 }, (_, index) => new Starter(folder, String(index)));
        for (const who of moves) await goOn(running[who], 1);
        for (const starter of running) await goOn(starter, 100);
        expect(running.filter(({ isHolder }) => isHolder)).toHaveLength(1);
      }),
      { numRuns: 1000 },
    );
  });
});
