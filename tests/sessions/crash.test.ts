import { expect, it } from "vitest";
import { seeded } from "../support/random.ts";
import { CrashingSession, momentOf } from "./crash.ts";

// More of it: npm run crash -- --seed 7 --kills 200
const SEED = Number(process.env["CRASH_SEED"] ?? 1);
const KILLS = Number(process.env["CRASH_KILLS"] ?? 25);
/** How often one session is killed before it is carried on to its end. */
const KILLS_OF_ONE = 5;
/** So many sessions at once. */
const SIDE_BY_SIDE = 3;

it(
  `LG-02: kill -9 at ${KILLS} moments (seed ${SEED}): stdout was never ahead, no whole line is lost, attach and resume supply the end`,
  async () => {
    const random = seeded(SEED);
    const moments = Array.from({ length: KILLS }, (_, n) => momentOf(n, random));
    let killed = 0;
    const work = async () => {
      while (moments.length > 0) {
        const session = new CrashingSession();
        for (const moment of moments.splice(0, KILLS_OF_ONE)) {
          try {
            if (await session.crash(moment)) killed += 1;
            // It was faster than the moment.
            else moments.push({ kind: "line", type: "text_delta", nth: 3, delayMs: 0 });
          } catch (error) {
            throw new Error(`killed at ${JSON.stringify(moment)}`, { cause: error });
          }
        }
        await session.resume();
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
    expect(killed).toBe(KILLS);
  },
  60_000 + KILLS * 3000,
);
