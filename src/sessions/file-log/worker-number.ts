// How one process out of many becomes the writer of a session, as steps that a test can play in any order.

/** The socket of the session's n-th writer. Longer numbers would not stay exact. */
const WORKER = /^worker\.([1-9]\d{0,14})\.sock$/;
/** The private name under which a starter listens before it is the writer. */
const STARTER = /^starter\.[\w-]+\.sock$/;

/** What listens on a socket: a process, nobody any more, or there is no such name. */
export type Presence = "alive" | "dead" | "none";

type Awaitable<T> = T | Promise<T>;

/** What it takes of the session's folder. Each call is one step that no other process can come between. */
export interface Places {
  names(): Awaitable<string[]>;
  /** @throws where it cannot be found out. */
  look(name: string): Promise<Presence>;
  /** A second name for a socket: `taken` if there is that name already, `gone` if the first one has been removed. */
  link(from: string, to: string): Awaitable<"linked" | "taken" | "gone">;
  /** Removes a name, if it is there. */
  remove(name: string): Awaitable<void>;
}

export function workerSocket(number: number): string {
  return `worker.${number}.sock`;
}

/** @param mark makes the name nobody else's: letters, digits, `-`. */
export function starterSocket(mark: string): string {
  return `starter.${mark}.sock`;
}

/** The number of the latest writer's socket; 0 if there is none. */
export function highestNumber(names: readonly string[]): number {
  return names.reduce((highest, name) => Math.max(highest, Number(WORKER.exec(name)?.[1] ?? 0)), 0);
}

/** The latest writer's number (0: there was none) and what `look` finds under it. */
export async function lookAtHighest<Look extends { presence: string }>(
  names: () => Awaitable<string[]>,
  look: (name: string) => Promise<Look>,
): Promise<{ number: number; look?: Look }> {
  let number = highestNumber(await names());
  for (;;) {
    if (number === 0) return { number };
    const found = await look(workerSocket(number));
    if (found.presence !== "none") return { number, look: found };
    // Taken away by a later writer, who is the one to look at.
    const next = highestNumber(await names());
    if (next === number) return { number, look: found };
    number = next;
  }
}

/**
 * Becomes the next writer. Of any number of processes that try at once one does, whatever happens to them in between.
 *
 * Why: numbers only grow, since the highest name is never removed, not even when its writer ends. So a number whose
 * listener was found dead stays dead, and the one above it can be linked by one process only; whoever links a number that
 * had been linked and removed before sees a higher one afterwards.
 *
 * @param starter a private name, not in use yet.
 * @param listen makes a socket that listens under that name.
 * @returns its number; undefined if there is a writer, or another process was faster.
 * @throws what `places` and `listen` throw.
 */
export async function takeNumber(
  places: Places,
  starter: string,
  listen: () => Awaitable<void>,
): Promise<number | undefined> {
  const highest = await lookAtHighest(
    () => places.names(),
    async (name) => ({ presence: await places.look(name) }),
  );
  if (highest.look?.presence === "alive") return undefined;
  await listen();
  const number = highest.number + 1;
  if ((await places.link(starter, workerSocket(number))) !== "linked") return undefined;
  const names = await places.names();
  // What was linked too late is left for the writer after this one to remove.
  if (highestNumber(names) > number) return undefined;
  for (const name of names) if (isLeftover(name, number)) await places.remove(name);
  return number;
}

/** What writers and starters before this one have left behind; of a starter that still lives: it finds that it has lost. */
function isLeftover(name: string, number: number): boolean {
  const worker = WORKER.exec(name);
  return worker ? Number(worker[1]) < number : STARTER.test(name);
}
