#!/usr/bin/env node
// A conversation with one linefeed process: the next prompt is written when the last one is answered, be it with an
// answer or with an error. What follows `--` are options of linefeed.
//
//     node examples/conversation.mjs "the largest planet?" "its moons?" -- --max-steps 5
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const words = process.argv.slice(2);
const end = words.includes("--") ? words.indexOf("--") : words.length;
const prompts = words.slice(0, end);

const options = ["--input-format", "jsonl", "--output-format", "jsonl", ...words.slice(end + 1)];
const linefeed = spawn("linefeed", options, { stdio: ["pipe", "pipe", "inherit"] });
// It may end before all is written; its exit code says why.
linefeed.stdin.on("error", () => {});
linefeed.on("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
linefeed.on("exit", (code) => {
  process.exitCode = code ?? 1;
});

function sayNext() {
  const text = prompts.shift();
  if (text === undefined) {
    linefeed.stdin.end();
  } else {
    console.log(`> ${text}`);
    linefeed.stdin.write(`${JSON.stringify({ type: "user", text })}\n`);
  }
}

sayNext();
let answer = "";
// readline may split at U+2028 too, which linefeed escapes.
for await (const line of createInterface({ input: linefeed.stdout })) {
  const event = JSON.parse(line);
  if (event.type === "turn_start") answer = "";
  if (event.type === "message")
    answer = event.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  if (event.type === "turn_end") {
    console.log(event.error ? `failed: ${event.error.message}` : answer);
    sayNext();
  }
}
