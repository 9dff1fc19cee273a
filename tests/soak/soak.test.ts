import { expect, test } from "vitest";
import { soak } from "./soak.ts";

// The long form is `npm run soak`; here a few runs of one seed show that it holds, and that the soak itself works.
test("random runs end with one true last word and leave nothing behind", { timeout: 240_000 }, async () => {
  const indexes = Array.from({ length: 16 }, (_, index) => index);
  const verdicts = await soak({ seed: 20, indexes, atOnce: 3 });
  const faults = [...verdicts].flatMap(([index, verdict]) =>
    verdict.faults.map((fault) => `run ${index}: ${fault}`),
  );
  expect(faults).toEqual([]);
  expect(verdicts.size).toBe(16);
});
