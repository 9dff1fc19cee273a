// npm run bench [-- --check] [-- --rounds N] [-- --only NAME]
// Measures linefeed beside plain scripts (bench/yardsticks); docs/performance.md says what the figures mean.
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { judge } from "./lib/judge.mjs";
import { createPlace } from "./lib/place.mjs";
import { growthTable, judgedTable, machine, machineLine } from "./lib/report.mjs";

const ROUNDS = 3;
const CHECK_ROUNDS = 7;
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const RESULTS = new URL("results.json", import.meta.url);

const { values: options } = parseArgs({
  options: { check: { type: "boolean" }, rounds: { type: "string" }, only: { type: "string" } },
});
const rounds = Number(options.rounds ?? (options.check ? CHECK_ROUNDS : ROUNDS));
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError("--rounds needs a whole number from 1");

if (!existsSync(new URL("../dist/bin/linefeed.js", import.meta.url)))
  execFileSync(process.execPath, ["build.mjs"], { cwd: ROOT, stdio: "inherit" });
// Only now: they import what has just been built.
const { measures } = await import("./measures/index.mjs");
const chosen = measures.filter(({ name }) => options.only === undefined || name === options.only);
if (chosen.length === 0) throw new RangeError(`--only knows ${measures.map(({ name }) => name).join(", ")}`);

const about = machine();
const results = await measureAll(chosen);
writeFileSync(RESULTS, `${JSON.stringify({ ...about, rounds, results }, null, 2)}\n`);
console.log(`${machineLine(about)} · ${rounds} rounds\n`);
console.log([judgedTable(results), growthTable(results)].filter((table) => table !== "").join("\n\n"));
const missed = results.filter(({ verdict }) => verdict === "MISSED");
if (missed.length > 0) console.log(`\nmissed: ${missed.map(({ id }) => id).join(", ")}`);
if (options.check && missed.length > 0) process.exitCode = 1;

/** All measures in turn, round by round, so that a slow minute of the machine falls on one round of each. */
async function measureAll(chosen) {
  const found = new Map();
  const place = createPlace();
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const measure of chosen) {
        process.stderr.write(`round ${round} of ${rounds}: ${measure.name}\n`);
        const values = await measure.round(place);
        for (const row of measure.rows) {
          const id = `${measure.name} ${row.id}`;
          const entry = found.get(id) ?? { row: { ...row, id }, rounds: [] };
          entry.rounds.push(values[row.id]);
          found.set(id, entry);
        }
      }
    }
  } finally {
    place.remove();
  }
  return [...found.values()].map((entry) => judge(entry.row, entry.rounds));
}
