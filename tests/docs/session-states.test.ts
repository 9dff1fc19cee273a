import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { SESSION_STATES } from "../../src/sessions/state.ts";

it("docs/sessions.md has the states as the code has them", () => {
  const [, section = ""] = /^## States$([^]*?)^## /m.exec(readFileSync("docs/sessions.md", "utf8")) ?? [];
  const rows = [...section.matchAll(/^\| `(\w+)`\s*\| (yes|no)\s*\| (.*?)\s*\|$/gm)].map(
    ([, ...cells]) => cells,
  );
  expect(rows).toEqual(
    Object.entries(SESSION_STATES).map(([state, { terminal, meaning }]) => [
      state,
      terminal ? "yes" : "no",
      meaning,
    ]),
  );
});
