// A run that is killed at a chosen moment, and what must hold of its session afterwards (else an AssertionError).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { CLI, cleanEnv, ofType, runCli, scriptFile } from "../support/cli.ts";
import { parseLines } from "../support/lint.ts";
import type { Random } from "../support/random.ts";
import { bash, faultsOf, hello, newState, type State } from "../support/sessions.ts";

/** When to kill: so long after the start, or after the n-th line of a type was seen. */
export type Moment =
  | { kind: "time"; delayMs: number }
  | { kind: "line"; type: string; nth: number; delayMs: number };

/** How often each type can be waited for in one run, and for how long the run goes on after it, in ms. */
const LINES = {
  init: { most: 1, delayMs: 6 },
  text_delta: { most: 30, delayMs: 3 },
  message: { most: 5, delayMs: 2 },
  tool_start: { most: 3, delayMs: 30 },
  tool_output_delta: { most: 3, delayMs: 2 },
  tool_end: { most: 3, delayMs: 2 },
  turn_end: { most: 2, delayMs: 4 },
} as const;
const TYPES = Object.keys(LINES) as (keyof typeof LINES)[];
/** A start takes about this long, until the first lines are there, in ms. */
const START_MS = 150;

/** The n-th moment: by turns in the start, and at each type of line. */
export function momentOf(n: number, random: Random): Moment {
  const type = TYPES[n % (TYPES.length + 1)];
  if (type === undefined) return { kind: "time", delayMs: random.between(0, START_MS) };
  const { most, delayMs } = LINES[type];
  return { kind: "line", type, nth: random.between(1, most), delayMs: random.between(0, delayMs) };
}

/** One session, which is killed again and again. */
export class CrashingSession {
  readonly #state: State = newState();
  readonly #id = crypto.randomUUID();
  readonly #script = scriptFile({
    delay_ms: 1,
    answers: [
      "And so it goes, word by word by word.",
      bash("echo one; sleep 0.01; echo two"),
      { content: [...bash("echo three").content, ...bash("sleep 0.02; echo four >&2").content] },
      "Done with it, all of it.",
      "Yes.",
    ],
  });

  /** @returns whether the run was killed; it may have been faster. */
  async crash(moment: Moment): Promise<boolean> {
    const before = wholeLines(this.#log());
    const { stdout, wasKilled } = await this.#runUntil(moment);
    const log = this.#log();
    const whole = wholeLines(log);
    assert.ok(whole.subarray(0, before.length).equals(before));
    checkNotAhead(log, before.length, stdout);
    if (log.length > 0) await this.#attach(whole);
    return wasKilled;
  }

  /** Carries the session on to its end: all that was whole is there still, and in order. */
  async resume(): Promise<void> {
    const before = wholeLines(this.#log());
    const run = await this.#state.run([...this.#which(), "-p", "x", "--fake", hello()]);
    assert.deepEqual([run.code, run.stderr], [0, ""]);
    const log = this.#log();
    assert.ok(log.subarray(0, before.length).equals(before));
    assert.ok(log.subarray(-run.stdout.length).equals(run.stdout));
    assert.deepEqual(faultsOf(log), []);
    const numbers = parseLines(log).map(({ seq }) => seq);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
  }

  #log(): Buffer {
    const path = this.#state.log(this.#id);
    return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  }

  /** A run that was killed before it had its log has left no session. */
  #which(): string[] {
    return [existsSync(this.#state.log(this.#id)) ? "--resume" : "--session-id", this.#id];
  }

  async #runUntil(moment: Moment): Promise<{ stdout: Buffer; wasKilled: boolean }> {
    const flags = ["--json", "--coalesce-ms", "0", "--allowed-tools", "Bash", "--input-format", "jsonl"];
    const child = spawn(process.execPath, [CLI, ...this.#which(), ...flags, "--fake", this.#script], {
      env: cleanEnv(this.#state.env),
      stdio: ["pipe", "pipe", "inherit"],
    });
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.stdin.on("error", () => undefined);
    child.stdin.end('{"type":"user","text":"one"}\n{"type":"user","text":"two"}\n');
    const kill = () => void delay(moment.delayMs).then(() => child.kill("SIGKILL"));
    const chunks: Buffer[] = [];
    let text = "";
    let isDue = moment.kind === "time";
    if (isDue) kill();
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      text += chunk.toString("latin1");
      if (isDue || moment.kind === "time") return;
      isDue = text.split(`{"type":"${moment.type}"`).length > moment.nth;
      if (isDue) kill();
    });
    await closed;
    return { stdout: Buffer.concat(chunks), wasKilled: child.signalCode === "SIGKILL" };
  }

  /** Whoever looks at it now sees every whole line, and how it ended. */
  async #attach(whole: Buffer): Promise<void> {
    const run = await runCli(["attach", this.#id], { env: this.#state.env });
    assert.ok(run.stdout.subarray(0, whole.length).equals(whole));
    assert.deepEqual(faultsOf(run.stdout), []);
    const last = parseLines(whole).at(-1);
    const more = parseLines(run.stdout.subarray(whole.length));
    if (last?.type === "result") {
      assert.deepEqual([run.code, run.stderr, more], [last.exit_code, "", []]);
      return;
    }
    assert.deepEqual([run.code, run.stderr], [5, ""]);
    const [lost, ...others] = ofType(more, "result");
    assert.deepEqual([lost?.seq, lost?.synthetic, lost?.exit_code], [0, true, 5]);
    assert.deepEqual([lost?.error?.code, others], ["lost_worker", []]);
  }
}

function wholeLines(log: Buffer): Buffer {
  return log.subarray(0, log.lastIndexOf("\n") + 1);
}

/** What stdout had is in the log, byte for byte, behind the lines that were there. */
function checkNotAhead(log: Buffer, from: number, stdout: Buffer): void {
  if (stdout.length === 0) return;
  const first = stdout.indexOf("\n") === -1 ? stdout : stdout.subarray(0, stdout.indexOf("\n"));
  const begin = log.indexOf(first, from);
  assert.notEqual(begin, -1);
  assert.ok(log.subarray(begin, begin + stdout.length).equals(stdout));
}
