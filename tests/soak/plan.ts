import type { FakeAnswer } from "../../src/testing/fake-provider.ts";
import type { SignalName } from "../../src/protocol/words.ts";
import { turnAnswers } from "./answers.ts";
import { seeded, type Random } from "../support/random.ts";

/** What one run of the soak does. */
export interface Plan {
  args: string[];
  /** What is written to stdin, which is then closed. */
  stdin: string;
  answers: FakeAnswer[];
  reader: Reader;
  /** Signals and when they are sent, in ms from the start of the process. */
  signals: { name: SignalName; afterMs: number }[];
}

/** How stdout is read: `bytes` at a time with a pause in between; `closeAfter`: the pipe is closed after so many bytes. */
export interface Reader {
  pauseMs: number;
  closeAfter?: number;
}

/** The plan of a run: the same for the same numbers. */
export function planRun(seed: number, index: number): Plan {
  const random = seeded(seed * 1_000_003 + index);
  const prompts = random.chance(0.25) ? random.between(2, 4) : 1;
  const asked = prompts === 1 ? ["-p", "go", "--no-stdin"] : ["--input-format", "jsonl"];
  return {
    args: [...asked, "--json", ...toolOptions(random), ...windowOptions(random), ...limitOptions(random)],
    stdin: prompts === 1 ? "" : `${JSON.stringify({ type: "user", text: "go" })}\n`.repeat(prompts),
    answers: Array.from({ length: prompts }, () => turnAnswers(random)).flat(),
    reader: readerOf(random),
    signals: signalsOf(random),
  };
}

function toolOptions(random: Random): string[] {
  return [
    "--allowed-tools",
    "Bash",
    "--tool-timeout",
    "1s",
    ...(random.chance(0.2) ? ["--keep-children"] : []),
    ...(random.chance(0.2) ? ["--include-tool-input"] : []),
    ...(random.chance(0.2) ? ["--fail-on-denied"] : []),
  ];
}

function windowOptions(random: Random): string[] {
  return [
    "--coalesce-ms",
    random.pick(["0", "5", "50", "500"]),
    ...(random.chance(0.1) ? ["--no-deltas"] : []),
    ...(random.chance(0.3) ? ["--heartbeat", "200ms"] : []),
  ];
}

function limitOptions(random: Random): string[] {
  return [
    "--idle-timeout",
    "1s",
    "--max-retries",
    random.pick(["0", "1", "2"]),
    ...(random.chance(0.15) ? ["--max-steps", "2"] : []),
    ...(random.chance(0.1) ? ["--timeout", "1500ms"] : []),
    ...(random.chance(0.05) ? ["--stop-on-error"] : []),
    ...(random.chance(0.1) ? ["--max-budget-tokens", "30"] : []),
    ...(random.chance(0.1) ? ["--no-session-persistence"] : []),
  ];
}

function readerOf(random: Random): Reader {
  const pauseMs = random.pick([0, 0, 1, 5]);
  return random.chance(0.15) ? { pauseMs, closeAfter: random.between(0, 20_000) } : { pauseMs };
}

function signalsOf(random: Random): Plan["signals"] {
  if (random.chance(0.6)) return [];
  const first = {
    name: random.pick<SignalName>(["SIGINT", "SIGTERM", "SIGHUP"]),
    afterMs: random.between(0, 1200),
  };
  if (random.chance(0.7)) return [first];
  return [first, { name: first.name, afterMs: first.afterMs + random.between(0, 200) }];
}
