import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { RunAgentOptions } from "../../../src/consume/index.ts";
import { cleanEnv, temporaryFolder } from "../../support/cli.ts";
import { init, linesOf, notice, result, stamped } from "../support.ts";

/** An environment by which everything that is started with it can be found again (L). */
export function tracedEnv(more: NodeJS.ProcessEnv = {}): { env: NodeJS.ProcessEnv; living: () => string[] } {
  const trace = `trace-${randomUUID()}`;
  return {
    env: cleanEnv({ LINEFEED_TEST_TRACE: trace, ...more }),
    living: () =>
      readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name) && read(`/proc/${name}/environ`).includes(trace))
        .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`),
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Waits until something is so; against hanging only. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error("it never came to be so");
    await delay(10);
  }
}

/**
 * A program that stands for linefeed and misbehaves. In its code `INIT`, `NOTICE` and `RESULT` are whole lines, `say` writes
 * to stdout at once, `alive()` keeps it alive for good.
 */
export function misbehaving(code: string): Pick<RunAgentOptions, "executable" | "args"> {
  const path = join(temporaryFolder(), "misbehaving.mjs");
  const [first, second, third] = linesOf(stamped([init, notice("a notice"), result])).split(/(?<=\n)/);
  const names = JSON.stringify({ INIT: first, NOTICE: second, RESULT: third });
  writeFileSync(
    path,
    `import fs from "node:fs"; import { spawn } from "node:child_process";
const { INIT, NOTICE, RESULT } = ${names};
const say = (text, fd = 1) => {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try { bytes = bytes.subarray(fs.writeSync(fd, bytes)); } catch (error) { if (error.code !== "EAGAIN") throw error; }
  }
};
const alive = () => setInterval(() => {}, 60_000);
${code}`,
  );
  return { executable: process.execPath, args: [path] };
}

/** What a promise rejects with. */
export async function rejection<E extends Error>(
  promise: Promise<unknown>,
  type: new (...args: never[]) => E,
): Promise<E> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(type);
  if (error instanceof type) return error;
  throw new Error("not the error that was expected");
}
