import { expect, it } from "vitest";
import { eventsPage } from "../support/docs-events.ts";
import { exitCodesPage } from "../support/docs-exit-codes.ts";

// The pages that are made from the code; `vitest -u` writes them.

it("docs/events.md is what the code says", async () => {
  await expect(eventsPage()).toMatchFileSnapshot("../../docs/events.md");
});

it("docs/exit-codes.md is what the code says", async () => {
  await expect(exitCodesPage()).toMatchFileSnapshot("../../docs/exit-codes.md");
});

it("every link inside docs/events.md leads somewhere", () => {
  const page = eventsPage();
  const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter((link) => !anchors.includes(link ?? ""))).toEqual([]);
});

it("no field of an event is without a meaning", () => {
  expect(eventsPage()).not.toMatch(/\|\s*\|$/m);
});
