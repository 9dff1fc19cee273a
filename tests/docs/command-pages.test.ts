import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { loadCommand } from "../../src/cli/commands/command.ts";
import { COMMAND_SUMMARIES, isPresent } from "../../src/cli/command-names.ts";

const page = readFileSync("docs/commands.md", "utf8");
const names = Object.keys(COMMAND_SUMMARIES).filter(isPresent);

it("docs/commands.md has a section for every command, and no other", () => {
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(sections).toEqual(names);
});

it.each(names)("its section on %s has every option with its default, and no other", async (name) => {
  const [, section = ""] = new RegExp(`^## ${name}$([^]*?)(?=^## |(?![^]))`, "m").exec(page) ?? [];
  const rows = [...section.matchAll(/^\| `(-[^`]*)`\s*\|.*\|\s*(\S*)\s*\|$/gm)];
  const { options } = (await loadCommand(name)).command();
  expect(rows.map(([, flags, standard]) => [flags, standard])).toEqual(
    options.map(({ flags, defaultValue }) => [flags, String(defaultValue ?? "")]),
  );
});
