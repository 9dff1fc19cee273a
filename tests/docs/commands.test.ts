import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answer, chatAnswer, startFakeProvider } from "../../src/testing/index.ts";
import { runShell } from "../support/cli.ts";
import { describeWithRedis, redisForTest } from "../support/redis-server.ts";
import { blocksOf, createWorkplace, type Block, type Workplace } from "../support/docs-workplace.ts";

// Every command line of README.md and docs/ is run as it stands there, with a provider on loopback.

/** What is not run: it would install, test or measure while the tests are running. */
const EXEMPT = [
  "npm ci && npm run build && ",
  "npm test\n",
  // tests/newcomer does it.
  "npm install --global .\n",
  "npm run bench\n",
  "npm run bench -- --check\n",
  "npm run bench -- --rounds 1 --only start\n",
];

const pages = [
  "README.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((file) => join("docs", file)),
];
const blocks = pages
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) => blocksOf(page, readFileSync(page, "utf8")))
  .map((block) => ({
    ...block,
    commands: EXEMPT.reduce((left, words) => left.replace(words, ""), block.commands),
  }))
  .filter(({ commands }) => commands !== "");

let workplace: Workplace;
beforeAll(() => {
  workplace = createWorkplace();
});
afterAll(() => workplace.remove());

it("finds the blocks, indented and marked ones too", () => {
  expect(blocks.length).toBeGreaterThan(9);
  const text = "a\n\n  ```sh\n  one\n    two\n  ```\n\n<!-- exit 2 -->\n\n```sh\nthree\n```\n";
  expect(blocksOf("page", text)).toEqual([
    { where: "page:3", commands: "one\n  two\n", exitCode: 0 },
    { where: "page:8", commands: "three\n", exitCode: 2 },
  ]);
});

const STORE = "127.0.0.1:6379";
const ofStores = blocks.filter(({ commands }) => commands.includes(STORE));

it.each(blocks.filter((block) => !ofStores.includes(block)))(
  "SC-03: $where runs as it is written",
  runsAsWritten,
);

describeWithRedis("with a store, at another port", () => {
  it.each(ofStores)("SC-03: $where runs as it is written", async ({ commands, ...block }) => {
    expect.hasAssertions();
    const { port } = await redisForTest();
    await runsAsWritten({ ...block, commands: commands.replaceAll(STORE, `127.0.0.1:${port}`) });
  });
});

async function runsAsWritten({ commands, exitCode }: Block): Promise<void> {
  const asking = answer().text("Let me look.").toolUse("Bash", { command: "git status --short" }).done();
  const provider = await startFakeProvider([asking, answer().text("It does one thing, and says so.").done()]);
  const other = await startFakeProvider([chatAnswer().text("Hello.").done()]);
  try {
    const run = await runShell(`set -euo pipefail\n${commands}`, {
      cwd: workplace.folder,
      env: {
        PATH: workplace.path,
        ANTHROPIC_API_KEY: "test-key",
        ANTHROPIC_BASE_URL: provider.url,
        OPENAI_BASE_URL: other.url,
      },
    });
    // A run that is meant to fail says why on stderr; any other says nothing there.
    expect(run.code).toBe(exitCode);
    expect(run.stderr).toMatch(exitCode === 0 ? /^$/ : /^linefeed: /);
    expect(run.stdout.length).toBeGreaterThan(0);
  } finally {
    await provider.close();
    await other.close();
  }
}
