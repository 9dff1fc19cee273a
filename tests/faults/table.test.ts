import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** How many cases each group of the fault list has; they are numbered from 1. */
const CASES = {
  FR: 12,
  PU: 7,
  PI: 9,
  TE: 9,
  EX: 10,
  PR: 16,
  TC: 6,
  DM: 8,
  EO: 9,
  IN: 7,
  SG: 7,
  TX: 5,
  LG: 7,
  BG: 17,
  CO: 16,
  US: 3,
  VO: 2,
  EN: 4,
  SC: 3,
};
const ids = Object.entries(CASES).flatMap(([group, count]) =>
  Array.from({ length: count }, (_, n) => `${group}-${String(n + 1).padStart(2, "0")}`),
);

const readme = readFileSync("tests/faults/README.md", "utf8");
const rows = [...readme.matchAll(/^\| ([A-Z]{2}-\d\d) *\| (.*?) *\| (.*?) *\|$/gm)].map(
  ([, id = "", files = "", says = ""]) => ({
    id,
    files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => join("tests", file)),
    says,
  }),
);
const testFiles = readdirSync("tests", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => join("tests", file));

it("tests/faults/README.md accounts for all 157 cases, each once and in order", () => {
  expect(ids).toHaveLength(157);
  expect(rows.map(({ id }) => id)).toEqual(ids);
});

it("its tests are there and name their case; a row without one says why", () => {
  for (const { id, files, says } of rows) {
    expect(says.length, id).toBeGreaterThan(20);
    for (const file of files) {
      expect(existsSync(file), `${id}: ${file}`).toBe(true);
      expect(namedIn(file), file).toContain(id);
    }
    if (files.length === 0) expect(says, id).toMatch(/^There (is|are) no /);
  }
});

it("no test names a case that the list does not have, or that its row does not know to be tested", () => {
  const tested = new Set(rows.filter(({ files }) => files.length > 0).map(({ id }) => id));
  for (const file of testFiles.filter((name) => !name.includes("table.test")))
    for (const id of namedIn(file)) expect(tested.has(id), `${id} in ${file}`).toBe(true);
});

/** The cases that the tests of a file have in their names. */
function namedIn(file: string): string[] {
  const names = new RegExp(`\\b(?:${Object.keys(CASES).join("|")})-\\d\\d\\b`, "g");
  return readFileSync(file, "utf8").match(names) ?? [];
}
