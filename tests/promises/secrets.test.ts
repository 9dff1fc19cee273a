import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  answer,
  chatAnswer,
  startFakeProvider,
  type FakeAnswer,
  type FakeProvider,
} from "../../src/testing/index.ts";
import { ofType, runCli, scriptFile, temporaryFolder, type CliRun } from "../support/cli.ts";
import { describeWithRedis, redisForTest } from "../support/redis-server.ts";
import { bash } from "../support/sessions.ts";

// The key reaches the provider and nothing else: not the events, logs, stderr, debug lines, records, tools or messages.

const KEY = "sk-ant-api03-SECRETsecret0123456789";
const PROXY_PASSWORD = "proxySECRETpassword";
const STORE_PASSWORD = "storeSECRETpassword";

interface Dialect {
  env: (url: string) => NodeJS.ProcessEnv;
  args: string[];
  call: (command: string) => string;
  text: (text: string) => string;
  error: (message: string) => string;
}

const DIALECTS: Record<string, Dialect> = {
  anthropic: {
    env: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
    args: [],
    call: (command) => answer().toolUse("Bash", { command }).done(),
    text: (text) => answer().text(text).done(),
    error: (message) => answer().error("api_error", message),
  },
  "anthropic with a token": {
    env: (url) => ({ ANTHROPIC_AUTH_TOKEN: KEY, ANTHROPIC_BASE_URL: url }),
    args: [],
    call: (command) => answer().toolUse("Bash", { command }).done(),
    text: (text) => answer().text(text).done(),
    error: (message) => answer().error("api_error", message),
  },
  openai: {
    env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url }),
    args: ["--model", "gpt-test"],
    call: (command) => chatAnswer().toolCall("Bash", { command }).done(),
    text: (text) => chatAnswer().text(text).done(),
    error: (message) => chatAnswer().error({ message }),
  },
};

/** Answers that quote the key in every place where servers do. */
const failures = ({ error }: Dialect): Record<string, FakeAnswer> => ({
  "401 that quotes it": { status: 401, body: { error: { message: `invalid key ${KEY}`, type: "x" } } },
  "403 in HTML": { status: 403, headers: { "content-type": "text/html" }, body: `<p>${KEY}</p>` },
  "400 with it in its headers": { status: 400, headers: { "request-id": KEY, server: KEY }, body: "no" },
  "500 that cuts it": { status: 500, body: `${"x".repeat(280)} ${KEY} ${"y".repeat(300)}` },
  "an error in the stream": { steps: [error(`the key ${KEY} is tired`)] },
  "a malformed frame": { steps: [`data: {"${KEY}\n\n`] },
  "another content type": { headers: { "content-type": `text/${KEY}` }, body: KEY },
  "a reset": { steps: [{ reset: true }] },
});

describe.each(Object.entries(DIALECTS))("the key for %s", (_, dialect) => {
  it("is found nowhere after a run with any failure", { timeout: 180_000 }, async () => {
    const all = Object.entries(failures(dialect));
    const found = await Promise.all(
      all.map(async ([name, failure]) => {
        const { run, folder } = await runWith(dialect, [failure]);
        expect(run.code).not.toBe(0);
        return whereIsTheKey(run, folder).map((place) => `${name}: ${place}`);
      }),
    );
    expect(found.flat()).toEqual([]);
  });

  it("is found nowhere after a run whose tools look for it", async () => {
    const look = "env; cat /proc/self/environ | tr '\\0' '\\n'; node -p 'JSON.stringify(process.env)'";
    const { run, folder, server } = await runWith(dialect, [
      dialect.call(look),
      dialect.text("Nothing found."),
    ]);
    expect(run.code).toBe(0);
    const [end] = ofType(run.events, "tool_end");
    expect(end).toMatchObject({ status: "ok", content: expect.stringContaining("LINEFEED_PROCESS_MARK") });
    expect(whereIsTheKey(run, folder)).toEqual([]);
    // It is told to whom it is for, in a header and nowhere else.
    expect(JSON.stringify(server.requests[0]?.headers)).toContain(KEY);
    for (const { text, url } of server.requests) expect(text + url).not.toContain(KEY);
  });
});

it("the password of a proxy is found nowhere", async () => {
  const dialect = DIALECTS["anthropic"] ?? expect.fail();
  const proxy = `http://user:${PROXY_PASSWORD}@127.0.0.1:9`;
  const { run, folder } = await runWith(dialect, [dialect.text("x")], {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
  });
  expect(run.code).toBe(75);
  expect(whereIsTheKey(run, folder)).toEqual([]);
});

describeWithRedis("the password of a store", () => {
  const ways: Record<string, (url: string) => { args: string[]; env: NodeJS.ProcessEnv }> = {
    "in --store": (url) => ({ args: ["--store", url], env: {} }),
    "in --store=": (url) => ({ args: [`--store=${url}`], env: {} }),
    "in LINEFEED_STORE": (url) => ({ args: [], env: { LINEFEED_STORE: url } }),
  };

  it.each(Object.entries(ways))("%s is found nowhere, and the tools know of no store", async (_, way) => {
    const redis = await redisForTest({ password: STORE_PASSWORD });
    const { args, env } = way(redis.url());
    const look = "env; ps -o args= -p $PPID; node -p 'JSON.stringify(process.env)'";
    const dialect = DIALECTS["anthropic"] ?? expect.fail();
    const { run, folder } = await runWith(dialect, [dialect.call(look), dialect.text("No.")], env, args);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const [end] = ofType(run.events, "tool_end");
    expect(end).toMatchObject({ status: "ok", content: expect.stringContaining("linefeed.js") });
    expect(end?.content).not.toMatch(/LINEFEED_STORE|:\d+\/0\b.*secret/i);
    expect(whereIsTheKey(run, folder)).toEqual([]);
  });

  it.each(Object.entries(ways))(
    "%s is handed to a background run by no argument or variable",
    async (_, way) => {
      const redis = await redisForTest({ password: STORE_PASSWORD });
      const folder = temporaryFolder();
      const { args, env } = way(redis.url());
      const look = "env; ps -o args= -p $PPID; tr '\\0' '\\n' </proc/$PPID/environ || true";
      const script = scriptFile([bash(look), "Done."]);
      const options = { cwd: folder, env: { LINEFEED_STATE_DIR: folder, ...env } };
      const begun = ["--bg", "-p", "x", "--fake", script, "--allowed-tools", "Bash", ...args];
      const { stdout, stderr, code } = await runCli(begun, options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const run = await runCli(["attach", stdout.toString("utf8").trim(), ...args], options);
      expect(run).toMatchObject({ code: 0, stderr: "" });
      expect(ofType(run.events, "tool_end")[0]?.content).toContain("linefeed.js");
      expect(whereIsTheKey(run, folder)).toEqual([]);
    },
  );
});

/** A run with all that writes: debug lines, a record, a log, a temporary folder, all in one folder. */
async function runWith(
  dialect: Dialect,
  answers: (FakeAnswer | string)[],
  env: NodeJS.ProcessEnv = {},
  args: string[] = [],
): Promise<{ run: CliRun; folder: string; server: FakeProvider }> {
  const folder = temporaryFolder();
  const server = await startFakeProvider(answers);
  onTestFinished(() => server.close());
  const files = [`--debug=${join(folder, "debug.log")}`, "--record", join(folder, "record.json")];
  const run = await runCli(
    [
      "-p",
      "x",
      "--json",
      "--max-retries",
      "0",
      "--allowed-tools",
      "Bash",
      ...files,
      ...dialect.args,
      ...args,
    ],
    { cwd: folder, env: { TMPDIR: folder, LINEFEED_STATE_DIR: folder, ...dialect.env(server.url), ...env } },
  );
  expect(statSync(join(folder, "debug.log")).size).toBeGreaterThan(0);
  return { run, folder, server };
}

/** Where the key or a good part of it can be read. */
function whereIsTheKey({ stdout, stderr }: CliRun, folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => [name, readFileSync(join(folder, name), "latin1")] as const);
  const texts = [["stdout", stdout.toString("latin1")] as const, ["stderr", stderr] as const, ...files];
  return texts.filter(([, text]) => /SECRET|sk-ant-api/.test(text)).map(([name]) => name);
}
