import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, existsSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The two ends of a pipe, as descriptors that the holder closes. */
export interface Pipe {
  readEnd: number;
  writeEnd: number;
}

/**
 * Makes real pipes for a child's stdout and stderr, or answers undefined where that cannot be done or is
 * not needed; then Node's own will do.
 *
 * Node's stdio "pipes" are socket pairs, and Linux refuses to open a socket by its path: `echo x >/dev/stderr`
 * and `tee /dev/stdout` fail with ENXIO in a child that has them. Node cannot call pipe(2), but a named pipe
 * that is unlinked once both ends are open is the same thing. It costs one short process (1.7 ms; `bash -c :`
 * takes 2.2). Elsewhere /dev/stderr duplicates the descriptor, which works on sockets.
 */
export async function makePipes(): Promise<{ stdout: Pipe; stderr: Pipe } | undefined> {
  if (!existsSync("/proc/self/fd")) return undefined;
  const name = join(tmpdir(), `linefeed-pipe-${randomUUID()}`);
  const paths = [`${name}.out`, `${name}.err`] as const;
  try {
    if (!(await makeFifos(paths))) return undefined;
    return openBoth(paths);
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
}

function makeFifos(paths: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const maker = spawn("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    maker.once("error", () => resolve(false));
    maker.once("exit", (code) => resolve(code === 0));
  });
}

function openBoth([out, err]: readonly [string, string]): { stdout: Pipe; stderr: Pipe } | undefined {
  const stdout = openFifo(out);
  const stderr = openFifo(err);
  if (stdout && stderr) return { stdout, stderr };
  for (const pipe of [stdout, stderr])
    if (pipe) for (const end of [pipe.readEnd, pipe.writeEnd]) closeSync(end);
  return undefined;
}

function openFifo(path: string): Pipe | undefined {
  let readEnd: number | undefined;
  try {
    // Without O_NONBLOCK this would wait for a writer. The writer, in turn, finds a reader and blocks
    // when the pipe is full, as commands expect.
    readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    return { readEnd, writeEnd: openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW) };
  } catch {
    if (readEnd !== undefined) closeSync(readEnd);
    return undefined;
  }
}
