import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { firstWord } from "../../src/cli/argv.ts";
import { isCommand } from "../../src/cli/command-names.ts";
import { loadCommand } from "../../src/cli/commands/command.ts";
import { parseWith } from "../../src/cli/parse.ts";
import { readRun, RUN_SHAPES } from "../../src/cli/read-run.ts";
import { checkedStore } from "../../src/cli/store-address.ts";

const FILE = "examples/distributed/compose.yaml";
const text = readFileSync(FILE, "utf8");

interface Service {
  image?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
}
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };
const ofLinefeed = Object.entries(services).filter(([, { command, entrypoint }]) =>
  [...(entrypoint ?? []), ...(command ?? [])].includes("linefeed"),
);

/** The words behind `linefeed`, understood as a run or as a command. Throws for what linefeed would refuse. */
async function understood(words: readonly string[]): Promise<string> {
  const first = firstWord(words, RUN_SHAPES);
  if (first && isCommand(first.word)) {
    const command = (await loadCommand(first.word)).command();
    if (!parseWith(command, first.rest, "linefeed")) throw new Error("it asks for help");
    return first.word;
  }
  if (!readRun(words)) throw new Error(`no command line of linefeed: ${words.join(" ")}`);
  return "run";
}

describe("the compose file", () => {
  it("has a Redis, two workers and a third container that looks at them", () => {
    expect(Object.keys(services)).toEqual(["redis", "worker-1", "worker-2", "watch"]);
    expect(services["redis"]).toMatchObject({ image: expect.stringMatching(/^redis:\d/) });
    expect(ofLinefeed.map(([name]) => name)).toEqual(["worker-1", "worker-2", "watch"]);
  });

  it.each(ofLinefeed)("%s: linefeed understands its words and its store", async (name, service) => {
    const words = [...(service.entrypoint ?? []), ...(service.command ?? [])];
    expect(words[0]).toBe("linefeed");
    expect(await understood(words.slice(1))).toBe(name === "watch" ? "attach" : "run");
    const url = service.environment?.["LINEFEED_STORE"]?.replace(
      /\$\{LINEFEED_STORE_PASSWORD:[^}]*\}/,
      "pass",
    );
    expect(url).toBe("redis://:pass@redis:6379/0");
    expect(checkedStore({ named: "LINEFEED_STORE", url: url ?? "" }, {}, {})).toMatchObject({ url });
  });

  it("plays scripts that are there", () => {
    const scripts = ofLinefeed.flatMap(([, { command = [] }]) =>
      command.filter((word) => word.endsWith(".json")).map((path) => path.replace(/^\/linefeed\//, "")),
    );
    expect(scripts).toHaveLength(2);
    for (const path of scripts) expect(() => JSON.parse(readFileSync(path, "utf8")) as unknown).not.toThrow();
  });

  it.each([FILE, "docs/distributed.md"])("what %s has the third container do are commands", async (page) => {
    const lines = readFileSync(page, "utf8").matchAll(/docker compose run --rm watch (.*)$/gm);
    const commands = [...lines].map(([, words = ""]) => words.match(/"[^"]*"|\S+/g) ?? []);
    expect(commands.length).toBeGreaterThan(2);
    for (const words of commands)
      expect(isCommand(await understood(words.map((word) => word.replaceAll('"', ""))))).toBe(true);
  });
});
