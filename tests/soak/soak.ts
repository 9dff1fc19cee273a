import type { Verdict } from "./checks.ts";
import { planRun } from "./plan.ts";
import { soakRun } from "./soak-run.ts";

export interface SoakOptions {
  seed: number;
  /** The numbers of the runs. */
  indexes: readonly number[];
  /** How many run at a time. */
  atOnce: number;
  /** Called with each run that ended. */
  onRun?: (index: number, verdict: Verdict) => void;
}

/** Random runs side by side; returns what became of each, by its number. */
export async function soak({ seed, indexes, atOnce, onRun }: SoakOptions): Promise<Map<number, Verdict>> {
  const left = [...indexes];
  const verdicts = new Map<number, Verdict>();
  const work = async () => {
    for (let index = left.shift(); index !== undefined; index = left.shift()) {
      const verdict = await soakRun(planRun(seed, index));
      verdicts.set(index, verdict);
      onRun?.(index, verdict);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return verdicts;
}
