import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { loadCommand } from "../../src/cli/commands/command.ts";
import { COMMANDS } from "../../src/cli/command-names.ts";

const page = readFileSync("docs/commands.md", "utf8");

it("docs/commands.md has a section for every command, and no other", () => {
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(sections).toEqual(COMMANDS);
});

it.each(COMMANDS)("its section on %s has every option with its default, and no other", async (name) => {
  const [, section = ""] = new RegExp(`^## ${name}$([^]*?)(?=^## |(?![^]))`, "m").exec(page) ?? [];
  const rows = [...section.matchAll(/^\| `(-[^`]*)`\s*\|.*\|\s*(\S*)\s*\|$/gm)];
  const { options } = (await loadCommand(name)).command();
  expect(rows.map(([, flags, standard]) => [flags, standard])).toEqual(
    options.map(({ flags, defaultValue, defaultValueDescription: words }) => [
      flags,
      words ?? String(defaultValue ?? ""),
    ]),
  );
});
