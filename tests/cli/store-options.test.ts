import { expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { hello } from "../support/sessions.ts";

// What is wrong with a store's options is said before anything runs; no password is ever quoted.

const RUN = () => ["-p", "hi", "--fake", hello()];
const ADDRESS = "redis://user:SECRET@127.0.0.1:1/0";

const WRONG: [what: string, args: string[], env: NodeJS.ProcessEnv, says: RegExp][] = [
  [
    "another protocol",
    ["--store", "http://user:SECRET@host"],
    {},
    /linefeed: --store is no address.*redis:\/\/host:6379/,
  ],
  ["no address", ["--store", "SECRET"], {}, /linefeed: --store is no address.*no URL/],
  ["a slash in the password", ["--store", "redis://:SE/SECRET@host"], {}, /linefeed: --store is no address/],
  ["no number of a database", ["--store", "redis://:SECRET@host/main"], {}, /linefeed: --store.*database/],
  ["nothing", ["--store", ""], {}, /linefeed: --store.*unset variable/],
  ["a variable with none", [], { LINEFEED_STORE: "SECRET" }, /linefeed: LINEFEED_STORE is no address/],
  ["a mistyped option", [`--stroe=${ADDRESS}`], {}, /--stroe=redis:\/\/….*--help/],
  [
    "a prefix with braces",
    ["--store", ADDRESS],
    { LINEFEED_REDIS_PREFIX: "{SECRET}" },
    /linefeed: LINEFEED_REDIS_PREFIX takes/,
  ],
  ["--retain without a store", ["--retain", "7d"], {}, /linefeed: --retain .*--store.*LINEFEED_STORE/],
  ["--retain-lines without a store", ["--retain-lines", "7"], {}, /linefeed: --retain-lines .*--store/],
  ["--remote-control without a store", ["--remote-control"], {}, /linefeed: --remote-control .*--store/],
  ["--retain without a unit", ["--store", ADDRESS, "--retain", "7"], {}, /--retain.*7d|--retain.*30d/],
  ["--retain for seconds", ["--store", ADDRESS, "--retain", "5s"], {}, /--retain.*a minute at least/],
  ["--retain for ages", ["--store", ADDRESS, "--retain", "9999w"], {}, /--retain.*5200 weeks/],
  ["--retain-lines 0", ["--store", ADDRESS, "--retain-lines", "0"], {}, /--retain-lines.*from 1/],
  [
    "a session that is not kept",
    ["--store", ADDRESS, "--no-session-persistence"],
    {},
    /--no-session-persistence/,
  ],
  ["sessions of one id", ["--store", ADDRESS, "--deterministic"], {}, /--deterministic/],
  ["no place for the file", ["--store", ADDRESS], { HOME: "", LINEFEED_STATE_DIR: "" }, /LINEFEED_STATE_DIR/],
];

it.each(WRONG)("%s: exit 2, one line that names the cure", async (_, args, env, says) => {
  const run = await runCli([...RUN(), ...args], { env });
  expect(run).toMatchObject({ code: 2, stdout: Buffer.from("") });
  expect(run.stderr).toMatch(/^linefeed: .*\[(usage|config)\]\n$/);
  expect(run.stderr).toMatch(says);
  expect(run.stderr).not.toContain("SECRET");
});

it.each([["attach", "x"], ["sessions"], ["send", "x", "y"], ["stop", "x"], ["rm", "x"]])(
  "%s says it too",
  async (...words) => {
    for (const [args, env] of [
      [["--store", "http://:SECRET@host"], {}],
      [[], { LINEFEED_STORE: "http://:SECRET@host" }],
    ] as const) {
      const run = await runCli([...words, ...args], { env });
      expect(run).toMatchObject({ code: 2, stdout: Buffer.from("") });
      expect(run.stderr).toMatch(/^linefeed: (--store|LINEFEED_STORE) is no address of a store.*\n$/);
      expect(run.stderr).not.toContain("SECRET");
    }
  },
);

it("a run that keeps nothing takes no notice of the variable", async () => {
  const env = { LINEFEED_STORE: "redis://127.0.0.1:1/0" };
  const run = await runCli([...RUN(), "--no-session-persistence"], { env });
  expect(run).toMatchObject({ code: 0, stderr: "" });
});
