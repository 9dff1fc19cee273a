import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { EVENT_TYPES } from "../../src/protocol/events.ts";
import { EXIT_CODES } from "../../src/protocol/exit-codes.ts";

const readme = readFileSync("README.md", "utf8");

it("the excerpt is real", () => {
  const excerpt = /```json\n([^]*?)```/.exec(readme)?.[1]?.trimEnd().split("\n") ?? [];
  const stream = readFileSync("examples/streams/tools.jsonl", "utf8").split("\n");
  expect(excerpt).toHaveLength(5);
  expect(excerpt.filter((line) => !stream.includes(line))).toEqual([]);
});

it("says first what it is, then shows what it prints and how it looks", () => {
  expect(readme).toMatch(
    /^# linefeed\n\nlinefeed is [^]*?```json\n[^]*?!\[[^\]]+\]\(docs\/pretty\.svg\)[^]*?```sh\nnpm ci && /,
  );
});

it("names every event type and every exit code", () => {
  expect(EVENT_TYPES.filter((type) => !readme.includes(`\`${type}\``))).toEqual([]);
  const codes = [...(/## Exit codes\n([^]*?)\n## /.exec(readme)?.[1] ?? "").matchAll(/\d+/g)].map(Number);
  expect(
    EXIT_CODES.map(({ exitCode }) => exitCode).filter((code) => code !== 5 && !codes.includes(code)),
  ).toEqual([]);
});

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];

it.each(pages)("%s links only to what is there", (page) => {
  const links = [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g)].map(
    ([, target = ""]) => target,
  );
  const folder = page.includes("/") ? page.replace(/\/[^/]*$/, "/") : "";
  expect(links.filter((link) => !exists(new URL(`${folder}${link}`, "file:///").pathname.slice(1)))).toEqual(
    [],
  );
});

function exists(path: string): boolean {
  const [, folder = "", name = ""] = /^(.*\/)?([^/]*)$/.exec(path.replace(/\/$/, "")) ?? [];
  return readdirSync(folder === "" ? "." : folder).includes(name);
}
