import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULT_KINDS, INVALID_REASONS } from "../../src/consume/index.ts";
import { runShell } from "../support/cli.ts";
import { createWorkplace, type Workplace } from "../support/docs-workplace.ts";

const page = readFileSync("docs/consumer.md", "utf8");
const rows = page.split("\n").map((line) => line.replaceAll(/ +/g, " "));

it.each(Object.entries({ ...INVALID_REASONS, ...FAULT_KINDS }))(
  "docs/consumer.md has %s",
  (word, meaning) => {
    expect(rows).toContain(`| \`${word}\` | ${meaning} |`);
  },
);

let workplace: Workplace;
beforeAll(() => {
  workplace = createWorkplace();
});
afterAll(() => workplace.remove());

const run = (command: string) => runShell(command, { cwd: workplace.folder, env: { PATH: workplace.path } });

/** The programs that a reader of the docs will copy. */
const programs: [string, string][] = [
  ["examples/consumer.ts", readFileSync("examples/consumer.ts", "utf8")],
  ...[...page.matchAll(/```ts\n([^]*?)```/g)].map(([, text = ""], index): [string, string] => [
    `program ${index + 1} of docs/consumer.md`,
    text,
  ]),
];

describe("programs", () => {
  it("have the types that the package says", async () => {
    const files = programs.map(([, text], index) => {
      writeFileSync(join(workplace.folder, `program-${index}.ts`), text);
      return `program-${index}.ts`;
    });
    const compilerOptions = {
      module: "NodeNext",
      target: "ES2022",
      strict: true,
      noEmit: true,
      types: ["node"],
      lib: ["ES2023"],
    };
    writeFileSync(join(workplace.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = join("node_modules", "typescript", "bin", "tsc");
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, "-p", "."], {
      cwd: workplace.folder,
    });
    expect(stdout).toBe("");
  });

  it.each(programs)("%s runs", async (_, text) => {
    const outfile = join(workplace.folder, "program.mjs");
    await build({ stdin: { contents: text, loader: "ts" }, outfile, logLevel: "error" });
    const { code, stdout, stderr } = await run("node program.mjs < examples/streams/tools.jsonl");
    expect({ code, faults: stderr.match(/^!.*/gm) }).toEqual({ code: 0, faults: null });
    expect(stdout.length).toBeGreaterThan(0);
  });
});

describe("consumer.ts", () => {
  const read = (file: string) =>
    run(
      `npx esbuild examples/consumer.ts --outfile=consumer.mjs --log-level=error && ${file} | node consumer.mjs`,
    );

  it("shows the text live and the calls with their times", async () => {
    const { code, stdout, stderr } = await read("cat examples/streams/tools.jsonl");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.toString("utf8")).toBe(
      [
        "I look at both files first.",
        "0.8 s  +4 ms  ok  Read package.json",
        "0.8 s  +2 ms  ok  Read CHANGELOG.md",
        "1.3 s  +840 ms  ok  Bash npm test",
        "This is 2.4.1, and all 12 tests pass.",
        "",
      ].join("\n"),
    );
  });

  it("exits as the run did, and takes no torn stream for a success", async () => {
    expect((await read("cat examples/streams/limit.jsonl")).code).toBe(3);
    const torn = await read("head -n 9 examples/streams/tools.jsonl");
    expect(torn).toMatchObject({ code: 1, stderr: "! the stream ends without a `result`\n" });
  });
});
