import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { COMMANDS } from "../../src/cli/command-names.ts";

const page = readFileSync("docs/command-line.md", "utf8");
const { options } = runCommand();

/** The rows of the page's option tables: flags and default. */
const rows = new Map(
  page
    .split("\n")
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter(([, flags = ""]) => /^`-.*`$/.test(flags))
    .map(([, flags = "", , standard = ""]) => [flags.replaceAll("`", ""), standard] as const),
);

it("the page has a row for every option, and no other", () => {
  const flags = options.filter((option) => !option.hidden).map((option) => option.flags);
  expect([...rows.keys()].toSorted()).toEqual([...flags, "-h, --help"].toSorted());
});

it("the page names the defaults that the code has", () => {
  const shown = options.filter(({ hidden, negate }) => !hidden && !negate);
  const defaults = shown.map(({ flags, defaultValue, defaultValueDescription }) => [
    flags,
    defaultValue === undefined ? "" : (defaultValueDescription ?? String(defaultValue)),
  ]);
  expect(defaults.map(([flags]) => [flags, rows.get(String(flags))])).toEqual(defaults);
});

it("the page names every hidden option: accepted, or not in this version", () => {
  const hidden = options.filter((option) => option.hidden).map((option) => option.long ?? option.flags);
  expect(hidden.filter((name) => !page.includes(`${name}\``) && !page.includes(`${name} `))).toEqual([]);
});

it("the page names no option that does not exist", () => {
  const known = new Set([
    ...options.map((option) => option.long),
    "--help",
    "--option",
    "--allowedTools",
    "--",
  ]);
  const named = [...page.matchAll(/(?<=[`\s"])(--[a-z][\w-]*)/gi)].map(([, name]) => name);
  expect(named.filter((name) => !known.has(name) && name !== "--oneline")).toEqual([]);
});

it("the page names the words that are taken for commands", () => {
  expect(COMMANDS.filter((command) => !page.includes(`\`${command}\``))).toEqual([]);
});
