// What the model does in a soak: answers as a provider really sends them, good and bad.
import { answer, type AnthropicAnswer } from "../../src/testing/anthropic-stream.ts";
import type { Cuts, FakeAnswer } from "../../src/testing/fake-provider.ts";
import type { Random } from "../support/random.ts";

const WORDS = [
  "plain words ",
  "naïve ",
  "≤ and ≥ ",
  "漢字かな",
  "\u{1f600}",
  "tab\there ",
  "line\nbreak ",
  "\u2028",
] as const;

/** Commands that end by themselves, fail, print a lot or leave something behind. */
const COMMANDS = [
  "echo done",
  "seq 1 20000",
  "printf 'a\\0b\\033[31mred'; exit 3",
  "sleep 0.3; echo slept",
  "sleep 300 & echo left one behind",
  "(sleep 300 & sleep 300) & echo left two behind; exit 1",
  "head -c 300000 /dev/urandom | base64 -w 0",
  "head -c 2000 /dev/urandom",
  "echo to stderr >&2; sleep 30",
  "kill -9 $$",
] as const;

/** One turn: answers that ask for tools, attempts that fail, and in most cases a last answer. */
export function turnAnswers(random: Random): FakeAnswer[] {
  const steps = random.between(0, 3);
  const answers: FakeAnswer[] = [];
  for (let step = 0; step < steps; step += 1) {
    if (random.chance(0.2)) answers.push(failure(random));
    answers.push(sent(random, withCalls(random).done()));
  }
  if (random.chance(0.2)) answers.push(failure(random));
  answers.push(sent(random, speech(random, answer()).done()));
  return answers;
}

function speech(random: Random, message: AnthropicAnswer): AnthropicAnswer {
  if (random.chance(0.4)) message.thinking(prose(random, random.between(1, 200)));
  const blocks = random.between(1, 3);
  const words = random.chance(0.05) ? 40_000 : 600;
  for (let block = 0; block < blocks; block += 1) message.text(prose(random, random.between(1, words)));
  return message;
}

function withCalls(random: Random): AnthropicAnswer {
  const message = random.chance(0.6) ? speech(random, answer()) : answer();
  const calls = random.between(1, 4);
  for (let call = 0; call < calls; call += 1) addCall(random, message);
  return message;
}

function addCall(random: Random, message: AnthropicAnswer): void {
  switch (random.pick(["Bash", "Bash", "Bash", "Read", "Glob", "denied", "unknown", "invalid"])) {
    case "Bash":
      return void message.toolUse("Bash", { command: random.pick(COMMANDS) });
    case "Read":
      return void message.toolUse("Read", { file_path: random.pick(["notes.txt", "missing.txt"]) });
    case "Glob":
      return void message.toolUse("Glob", { pattern: "*.txt" });
    case "denied":
      return void message.toolUse("Write", { file_path: "denied.txt", content: "no" });
    case "unknown":
      return void message.toolUse("Fly", { to: "the moon" });
    default:
      return void message.toolUse("Read", `{"file_path": "notes.txt`);
  }
}

function prose(random: Random, words: number): string {
  let text = "";
  for (let word = 0; word < words; word += 1) text += random.pick(WORDS);
  return text;
}

/** A stream as the network delivers it. */
function sent(random: Random, stream: string): FakeAnswer {
  const cuts = random.pick<Cuts>([{}, { cutEvery: 4096 }, { cutEvery: 997, pause: 1 }]);
  return { steps: random.chance(0.2) ? [{ wait: random.between(10, 600) }, stream] : [stream], ...cuts };
}

/** An attempt that comes to nothing; what follows it is the next attempt, if there is one. */
function failure(random: Random): FakeAnswer {
  const half = speech(random, answer()).unfinished();
  switch (random.pick(["529", "500", "429", "400", "401", "reset", "cut", "stall", "error", "malformed"])) {
    case "529":
      return {
        status: 529,
        body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      };
    case "500":
      return { status: 500, body: "<html>oops</html>" };
    case "429":
      return { status: 429, headers: { "retry-after": random.pick(["0", "1", "900"]) }, body: "slow down" };
    case "400":
      return {
        status: 400,
        body: { type: "error", error: { type: "invalid_request_error", message: "No." } },
      };
    case "401":
      return {
        status: 401,
        body: { type: "error", error: { type: "authentication_error", message: "No." } },
      };
    case "reset":
      return { steps: [half, { wait: 20 }, { reset: true }] };
    case "cut":
      return { steps: [half] };
    case "stall":
      return { steps: [half, { stall: true }] };
    case "error":
      return { steps: [answer().text(prose(random, 5)).error("overloaded_error", "Overloaded")] };
    default:
      return { steps: [half, `data: {"type": "content_block_delta", \n\n`, half] };
  }
}
