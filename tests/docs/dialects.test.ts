import { expect, it } from "vitest";
import { DIALECTS } from "../../src/protocol/words.ts";
import { FIXTURES } from "../support/dialects.ts";
import { dialectsPage, disagreements } from "../support/docs-dialects.ts";

it("docs/dialects.md is what the fixtures become", async () => {
  await expect(await dialectsPage()).toMatchFileSnapshot("../../docs/dialects.md");
});

it.each(DIALECTS)("code, table and fixtures agree on each line of %s", async (agent) => {
  expect(await disagreements(agent)).toEqual([]);
});

it("the page has a section for each agent, and nothing left to fill in", async () => {
  const page = await dialectsPage();
  expect(page).not.toContain("{{");
  for (const agent of DIALECTS) expect(page).toContain(`| \`${agent}\``);
});

it("fixtures are of nobody's machine", () => {
  for (const { text } of FIXTURES) {
    const paths = [...text.matchAll(/"(\/[\w./-]+)"/g)].map(([, path]) => path ?? "");
    expect(paths.filter((path) => !/^\/(srv|home\/user)\//.test(path))).toEqual([]);
  }
});
