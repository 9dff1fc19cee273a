import type { Script } from "./script.ts";

/** The speed that a script asks for: 1 keeps its waits, `Infinity` leaves them out. */
export function replaySpeed({ replay_speed: speed }: Pick<Script, "replay_speed">): number {
  return speed === "full" ? Infinity : 1;
}
