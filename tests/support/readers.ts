// People who look in on a session: to its end, slowly, or in two goes.
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { runCli } from "./cli.ts";
import { parseLines } from "./lint.ts";
import type { State } from "./sessions.ts";

/** What a reader got, and how its `attach` ended. */
export interface Reading {
  bytes: Buffer;
  code: number | null;
  stderr: string;
}

/** Reads a session to its end. `during` gets the process once it runs. */
export async function readToEnd(
  state: State,
  id: string,
  { from = 1, during }: { from?: number; during?: (child: ChildProcess) => void } = {},
): Promise<Reading> {
  const args = ["attach", id, "--output-format", "jsonl", "--from", String(from)];
  const run = await runCli(args, { env: state.env, ...(during && { during }) });
  return { bytes: run.stdout, code: run.code, stderr: run.stderr };
}

/** Is stopped (SIGSTOP) at the first bytes, and goes on when told to. */
export function readStopped(state: State, id: string, goOn: Promise<void>): Promise<Reading> {
  return readToEnd(state, id, {
    during: (child) =>
      child.stdout?.once("data", () => {
        child.kill("SIGSTOP");
        void goOn.then(() => child.kill("SIGCONT"));
      }),
  });
}

/** Leaves its pipe unread from the first bytes on, until told to. */
export function readHeldUp(state: State, id: string, goOn: Promise<void>): Promise<Reading> {
  return readToEnd(state, id, {
    during: ({ stdout }) =>
      stdout?.once("data", () => {
        stdout.pause();
        void goOn.then(() => stdout.resume());
      }),
  });
}

/** Leaves (Ctrl-C) after so many lines, comes back a little later and asks for what follows the last whole line that it has. */
export async function readInTwoGoes(state: State, id: string, lines: number): Promise<Reading> {
  let seen = 0;
  const first = await readToEnd(state, id, {
    during: (child) =>
      child.stdout?.on("data", (chunk: Buffer) => {
        const had = seen;
        seen += chunk.toString("latin1").split("\n").length - 1;
        if (had < lines && seen >= lines) child.kill("SIGINT");
      }),
  });
  if (first.code !== null) return first;
  await delay(50);
  const whole = first.bytes.subarray(0, first.bytes.lastIndexOf("\n") + 1);
  const last = parseLines(whole).at(-1)?.seq ?? 0;
  const second = await readToEnd(state, id, { from: last + 1 });
  return { ...second, bytes: Buffer.concat([whole, second.bytes]) };
}
