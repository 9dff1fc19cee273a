// npm run crash -- --seed 7 --kills 200: the crash test with more kills than `npm test` has time for.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, kills: { type: "string", default: "200" } },
});
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d{0,6}$/.test(value)) continue;
  process.stderr.write(`--${name} takes a whole number from 1\n`);
  process.exit(2);
}
const vitest = ["node_modules/vitest/vitest.mjs", "run", "tests/sessions/crash.test.ts"];
const { status } = spawnSync(process.execPath, vitest, {
  stdio: "inherit",
  env: { ...process.env, CRASH_SEED: values.seed, CRASH_KILLS: values.kills },
});
process.exit(status ?? 1);
