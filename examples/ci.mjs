#!/usr/bin/env node
// A step of a GitHub Actions job: shows in the log what the agent does, puts the answer on the job's summary page, and
// fails the job unless the run is ok. What follows `--` are options of linefeed.
//
//     node examples/ci.mjs "review the last commit" -- --allowed-tools "Bash(git show *)"
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { runAgent } from "linefeed/consumer";

const words = process.argv.slice(2);
const end = words.includes("--") ? words.indexOf("--") : words.length;

const run = runAgent({
  prompt: words.slice(0, end).join(" "),
  timeoutMs: 15 * 60_000,
  failOnDenied: true,
  extraArgs: words.slice(end + 1),
});
// A job that is cancelled still gets the run's last word.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => run.cancel(signal));

// What the model and its tools say must not be taken for commands to the runner.
const token = randomUUID();
console.log(`::stop-commands::${token}`);
try {
  for await (const event of run) {
    if (event.type === "text_delta") process.stdout.write(event.text);
    if (event.type === "message") console.log();
    if (event.type === "tool_start") console.log(`> ${event.summary}`);
    if (event.type === "tool_end") console.log(`> ${event.name}: ${event.status}, ${event.duration_ms} ms`);
    if (event.type === "retry") console.log(`\n> again in ${event.delay_ms} ms: ${event.error.message}`);
    if (event.type === "invalid") console.log(`> ${event.message}`);
  }
  console.log(`::${token}::`);
  report(await run.result);
} catch (error) {
  // linefeed could not be started, or died without a last word.
  console.log(`\n::${token}::`);
  fail(error.message, 1);
}

function report({ status, exit_code, text, error, permission_denials }) {
  if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, `${text ?? ""}\n`);
  for (const { reason } of permission_denials) annotate("warning", reason);
  // 75 means: the same job may succeed later.
  if (status !== "ok") fail(`${status}: ${error?.message ?? "no reason was given"}`, exit_code);
}

function fail(message, exitCode) {
  annotate("error", message);
  process.exitCode = exitCode;
}

function annotate(level, message) {
  const line = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  console.log(`::${level} title=linefeed::${line}`);
}
