// How to test a program that drives linefeed: a provider on the loopback interface answers what the test says.
//   node --test examples/test-with-a-provider.mjs
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { answer, startFakeProvider } from "linefeed/testing";

const LINEFEED = fileURLToPath(new URL("../dist/bin/linefeed.js", import.meta.url));

/** The program under test: asks linefeed, hands on the answer. */
async function summarize(text, env) {
  const args = [LINEFEED, "-p", `Sum this up: ${text}`, "--json", "--no-stdin"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const result = JSON.parse(stdout.trimEnd().split("\n").at(-1));
  return result.text;
}

test("it asks once, and hands on the answer", async () => {
  const provider = await startFakeProvider([answer().text("All is well.").done()]);
  try {
    const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: provider.url };
    assert.equal(await summarize("a long report", env), "All is well.");
    assert.equal(provider.requests.length, 1);
    assert.match(provider.requests[0].text, /a long report/);
  } finally {
    await provider.close();
  }
});

test("it goes on after an overload", async () => {
  const overloaded = {
    status: 529,
    headers: { "retry-after": "0" },
    body: { error: { type: "overloaded_error" } },
  };
  const provider = await startFakeProvider([overloaded, answer().text("Better late.").done()]);
  try {
    const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: provider.url };
    assert.equal(await summarize("a long report", env), "Better late.");
    assert.equal(provider.requests.length, 2);
  } finally {
    await provider.close();
  }
});
