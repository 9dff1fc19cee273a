import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { environmentOf, livingProcesses } from "../../src/tools/process-table.ts";
import { runCli } from "./cli.ts";
import { readHeldUp, readInTwoGoes, readStopped, readToEnd, type Reading } from "./readers.ts";
import { bash, beginInBackground, faultsOf, writerOf, type State } from "./sessions.ts";

const HELD_MS = 10_000;
const LOST = { type: "result", seq: 0, synthetic: true, exit_code: 5, error: { code: "lost_worker" } };

interface Kind {
  count: number;
  script: Parameters<typeof beginInBackground>[1];
  flags?: string[];
  /** What `sessions` says while it goes on; null: it may have ended by itself. */
  midway: string | null;
  /** What it says at the end. */
  state: string;
  exitCode: number;
}

const words = (count: number) => "word ".repeat(count);
const talk = (count: number) => ({ delay_ms: 40, chunk_characters: 5, answers: [words(count)] });

/** 20 runs. */
const KINDS = {
  talks: { count: 8, script: talk(100), midway: null, state: "done", exitCode: 0 },
  works: {
    count: 3,
    script: { delay_ms: 20, answers: [bash("echo one; sleep 0.5; seq 3000"), words(20), "Done."] },
    midway: null,
    state: "done",
    exitCode: 0,
  },
  fails: {
    count: 2,
    script: { answers: [bash("sleep 1"), { fault: { code: "authentication" } }] },
    midway: null,
    state: "failed",
    exitCode: 1,
  },
  limited: {
    count: 1,
    script: [bash("sleep 1"), "never"],
    flags: ["--max-steps", "1"],
    midway: null,
    state: "limit",
    exitCode: 3,
  },
  diesTalking: { count: 1, script: talk(100_000), midway: "running", state: "crashed", exitCode: 5 },
  diesWorking: {
    count: 1,
    script: [bash("echo up; sleep 600"), "never"],
    midway: "running",
    state: "crashed",
    exitCode: 5,
  },
  stopped: {
    count: 2,
    script: [bash("echo up; sleep 600"), "never"],
    midway: "running",
    state: "cancelled",
    exitCode: 143,
  },
  asked: {
    count: 2,
    script: { delay_ms: 20, answers: [words(20), words(20)] },
    flags: ["--keep-open"],
    midway: "waiting",
    state: "cancelled",
    exitCode: 143,
  },
} satisfies Record<string, Kind>;

interface Run {
  kind: keyof typeof KINDS;
  id: string;
  readings: Promise<Reading[]>;
}

/** Of which session: its state, whether that is final, its exit code. */
async function listed(state: State): Promise<Map<string, unknown[]>> {
  const run = await runCli(["sessions", "--output-format", "jsonl"], { env: state.env });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const lines = run.stdout.toString("utf8").split("\n").slice(0, -1);
  return new Map(
    lines.map((line) => {
      const status = JSON.parse(line) as Record<string, unknown>;
      return [String(status["id"]), [status["state"], status["terminal"], status["exit_code"]]];
    }),
  );
}

/** Processes with the state folder in their environment: workers, readers, and what calls have started. */
function processesOf(state: State): number[] {
  const folder = state.env["LINEFEED_STATE_DIR"];
  return livingProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => environmentOf(pid, "LINEFEED_STATE_DIR") === folder);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(100);
}

/**
 * Background runs of all kinds, with three readers each: no byte is lost, every state is right, no process is left.
 * @param most so many of a kind at most. @param more further options of each.
 */
export async function checkBackgroundRuns(
  state: State,
  { most, more = [] }: { most: number; more?: readonly string[] },
): Promise<void> {
  let letGo = () => {};
  const goOn = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const begin = async (kind: keyof typeof KINDS, n: number): Promise<Run> => {
    const { script, flags }: Kind = KINDS[kind];
    const id = await beginInBackground(state, script, [...(flags ?? []), ...more]);
    const slow = n % 2 === 0 ? readStopped(state, id, goOn) : readHeldUp(state, id, goOn);
    return { kind, id, readings: Promise.all([readToEnd(state, id), slow, readInTwoGoes(state, id, 4)]) };
  };
  const plan = Object.entries(KINDS).flatMap(([kind, { count }]) =>
    Array.from({ length: Math.min(count, most) }, () => kind),
  );
  const runs = await Promise.all(plan.map((kind, n) => begin(kind as keyof typeof KINDS, n)));
  const held = delay(HELD_MS).then(letGo);
  const of = (...kinds: Run["kind"][]) => runs.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);
  const cli = (...args: string[]) => runCli(args, { env: state.env });
  const saysLog = (id: string, what: string) => readFileSync(state.log(id), "utf8").includes(what);

  await until(() => of("asked").every((id) => saysLog(id, '"turn_end"')));
  await until(() => of("diesWorking", "stopped").every((id) => saysLog(id, '"text":"up')));
  await until(() => of("diesTalking").every((id) => saysLog(id, '"text_delta"')));
  const midway = await listed(state);
  for (const { kind, id } of runs)
    if (KINDS[kind].midway !== null) expect(midway.get(id)).toEqual([KINDS[kind].midway, false, null]);

  for (const id of of("diesTalking", "diesWorking")) process.kill(writerOf(state, id).pid, "SIGKILL");
  const told = [
    ...of("stopped").map((id) => cli("stop", id)),
    ...of("asked").map((id) => cli("send", id, "and again")),
  ];
  for (const run of await Promise.all(told)) expect(run).toMatchObject({ code: 0, stderr: "" });
  await until(() => of("asked").every((id) => saysLog(id, '"turn":2,"status":"ok"')));
  for (const run of await Promise.all(of("asked").map((id) => cli("stop", id))))
    expect(run).toMatchObject({ code: 0, stderr: "" });
  await held;

  for (const { kind, id, readings } of runs) {
    const log = readFileSync(state.log(id));
    for (const { bytes, code, stderr } of await readings) {
      expect([kind, code, stderr]).toEqual([kind, KINDS[kind].exitCode, ""]);
      expect(bytes.subarray(0, log.length).equals(log), kind).toBe(true);
      const more = bytes.subarray(log.length).toString("utf8");
      if (KINDS[kind].state === "crashed") expect(JSON.parse(more)).toMatchObject(LOST);
      else expect(more).toBe("");
      expect(faultsOf(bytes)).toEqual([]);
    }
  }
  expect(await listed(state)).toEqual(
    new Map(runs.map(({ kind, id }) => [id, [KINDS[kind].state, true, KINDS[kind].exitCode]])),
  );
  // What a writer that was killed could not end any more is ended with its session.
  for (const id of of("diesWorking")) expect(await cli("rm", id)).toMatchObject({ code: 0, stderr: "" });
  if (process.platform === "linux") await until(() => processesOf(state).length === 0);
}
