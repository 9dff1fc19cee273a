import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { answer, chatAnswer } from "../../src/testing/index.ts";
import { runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { openaiEnv, provider, providerEnv } from "../support/provider.ts";

// What those who start the command rely on: its encoding, its last word, its manners on the network.

it("FR-11: stdout is UTF-8 without a byte order mark whatever the locale, and Python reads it as such", async () => {
  const text = "It’s done → 漢字 🫖";
  const python = `
import json, os, subprocess, sys
for locale in ("C", "en_US.ISO-8859-1", "de_DE.CP1252"):
    environment = dict(os.environ, LANG=locale, LC_ALL=locale, PYTHONUTF8="0", PYTHONIOENCODING="cp1252")
    run = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", env=environment)
    assert json.loads(run.stdout.splitlines()[-1])["text"] == sys.argv[1], run.stdout
    assert run.stdout.startswith("{"), run.stdout[:10]
print("ok")`;
  const words = `'${python}' '${text}' $LINEFEED -p x --json --fake ${scriptFile([text])}`;
  const run = await runShell(`python3 -X utf8 -c ${words}`);
  expect([run.stdout.toString(), run.stderr]).toEqual(["ok\n", ""]);
});

it("EX-10: the last word alone tells success from failure, where a pipeline swallows the exit code", async () => {
  const fault = { fault: { code: "overloaded" as const, retryable: true } };
  const run = await runShell(
    `$LINEFEED -p x --json --max-retries 0 --fake ${scriptFile([fault])} | tee log >/dev/null; echo $?; tail -n 1 log`,
    { cwd: temporaryFolder() },
  );
  const [shellCode, lastLine = ""] = run.stdout.toString().split("\n");
  expect(shellCode).toBe("0");
  expect(JSON.parse(lastLine)).toMatchObject({ type: "result", status: "error", exit_code: 75 });
});

it("TE-07: nobody but the provider is contacted, and no name is looked up", async () => {
  const spy = join(temporaryFolder(), "spy.mjs");
  const seen = `${spy}.log`;
  writeFileSync(
    spy,
    `import dgram from "node:dgram"; import dns from "node:dns"; import net from "node:net"; import { appendFileSync } from "node:fs";
     const watch = (object, name, what) => {
       const original = object[name];
       object[name] = function (...args) { appendFileSync(${JSON.stringify(seen)}, what(args) + "\\n"); return original.apply(this, args); };
     };
     watch(net.Socket.prototype, "connect", ([options]) => "connect " + JSON.stringify(options).replace(/.*?"port":"?(\\d+).*/, "$1"));
     watch(dgram, "createSocket", () => "datagrams");
     for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) watch(dns, name, ([host]) => name + " " + host);`,
  );
  const anthropic = await provider(answer().text("hello").done());
  const openai = await provider(chatAnswer().text("hello").done());
  for (const [server, env] of [
    [anthropic, providerEnv(anthropic)],
    [openai, openaiEnv(openai)],
  ] as const) {
    writeFileSync(seen, "");
    const run = await runCli(["-p", "x"], { env: { ...env, NODE_OPTIONS: `--import=${spy}` } });
    expect([run.code, run.stdout.toString()]).toEqual([0, "hello\n"]);
    expect(new Set(readFileSync(seen, "utf8").trim().split("\n"))).toEqual(
      new Set([`connect ${new URL(server.url).port}`]),
    );
  }
});
