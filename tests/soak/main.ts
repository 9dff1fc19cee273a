import { parseArgs } from "node:util";
import type { Verdict } from "./checks.ts";
import { planRun } from "./plan.ts";
import { soak } from "./soak.ts";

/** `npm run soak -- --seed 1 --runs 300`; `--only 17` does one of them again and shows its plan. */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string", default: String(Date.now() % 100_000) },
      runs: { type: "string", default: "300" },
      "at-once": { type: "string", default: "8" },
      only: { type: "string" },
    },
  });
  const seed = Number(values.seed);
  const only = values.only === undefined ? undefined : Number(values.only);
  const indexes =
    only === undefined ? Array.from({ length: Number(values.runs) }, (_, index) => index) : [only];
  if (only !== undefined) console.log(JSON.stringify(planRun(seed, only), undefined, 1));
  let done = 0;
  const onRun = (index: number, { faults }: Verdict) => {
    done += 1;
    for (const fault of faults) console.log(`run ${index}: ${fault}`);
    if (done % 25 === 0) console.log(`${done} of ${indexes.length} runs`);
  };
  const verdicts = [...(await soak({ seed, indexes, atOnce: Number(values["at-once"]), onRun })).values()];
  const faulty = verdicts.filter(({ faults }) => faults.length > 0).length;
  console.log(`ended as: ${countOf(verdicts.map(({ end }) => end))}`);
  console.log(`seed ${seed}: ${verdicts.length - faulty} clean, ${faulty} faulty`);
  if (faulty > 0) process.exitCode = 1;
}

/** Each word with how often it is there, the most frequent first. */
function countOf(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([word, count]) => `${word} ${count}`)
    .join(", ");
}
