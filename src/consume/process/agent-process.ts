import { spawn, type ChildProcess } from "node:child_process";
import { PassThrough } from "node:stream";
import { MARK_VARIABLE } from "../../protocol/process-mark.ts";
import type { SignalName } from "../../protocol/words.ts";
import { spawnError, SpawnError, type ProcessExit } from "./errors.ts";
import { ProcessOutput } from "./output.ts";
import { TextTail } from "./text-tail.ts";
import { endWithUs, KILL_MS, ProcessTree } from "./tree.ts";

/** A process that has printed nothing yet may not be ready for a signal: for so long, in ms, its first output is awaited. */
const START_MS = 2000;
/** How long the end of stderr is waited for after the exit, in ms. */
const STDERR_MS = 100;

export interface Command {
  executable: string;
  args: readonly string[];
}

export interface ProcessOptions {
  /** May throw a {@link SpawnError}, which {@link AgentProcess.started} then rejects with. */
  command: () => Command;
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  /** The time, in ms, between being asked to end and being killed. */
  killAfterMs: number;
  /** Whether what the process has started may live on after it, however it ended. */
  keepChildren: boolean;
}

/**
 * A process that prints lines, with everything that it starts: it leads a process group of its own, so that a signal of
 * the terminal reaches it only through its owner. Nothing here throws or rejects but {@link started} and {@link write}.
 */
export class AgentProcess {
  /** Resolves when it runs. Rejects with a {@link SpawnError}. */
  readonly started: Promise<void>;
  /** Resolves when it has exited, or could not be started. */
  readonly exited: Promise<void>;
  readonly output: ProcessOutput;
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess | undefined;
  readonly #tree: ProcessTree | undefined;
  readonly #stderr = new TextTail();
  readonly #printed: Promise<void>;
  #exit: ProcessExit | undefined;
  #ending: Promise<void> | undefined;
  #finishing: Promise<void> | undefined;
  #wasKilled = false;
  #inputEnded = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const mark = crypto.randomUUID();
    const child = spawned(options, mark);
    this.#child = child instanceof SpawnError ? undefined : child;
    this.started = child instanceof SpawnError ? Promise.reject(child) : startOf(child, options);
    this.started.catch(() => undefined);
    this.#tree = this.#child?.pid === undefined ? undefined : new ProcessTree(this.#child.pid, mark);
    this.exited = this.#watchExit();
    const stdout = this.#child?.stdout ?? new PassThrough().end();
    this.output = new ProcessOutput(stdout, this.exited);
    this.#printed = new Promise((resolve) => {
      stdout.once("readable", resolve);
    });
    this.#child?.stderr?.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    this.#child?.stderr?.on("error", () => undefined);
    // Each write hears of it.
    this.#child?.stdin?.on("error", () => undefined);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Undefined while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Whether it was asked to end. */
  get wasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether it was asked to end, did not, and was killed. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** The end of what it wrote to stderr. */
  get stderr(): string {
    return this.#stderr.text;
  }

  /** Writes to stdin. Rejects with the system's error if it is closed, or if the process ends before it has taken it all. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const { stdin } = this.#child ?? {};
      if (!stdin) throw new Error("the process does not run");
      stdin.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Nothing more is written. */
  endInput(): void {
    this.#inputEnded = true;
    this.#child?.stdin?.end();
  }

  get inputEnded(): boolean {
    return this.#inputEnded;
  }

  /**
   * Ends the process: by a signal, and when it still lives after `killAfterMs`, by force together with everything that it
   * has started. Resolves when it has exited, at the latest 3 s after that time; the second call gets the first one's
   * promise.
   */
  terminate(signal: SignalName = "SIGTERM"): Promise<void> {
    this.#ending ??= this.#end(signal);
    return this.#ending;
  }

  /** Nobody reads stdout any more: linefeed stops when it sees that. */
  closeOutput(): void {
    this.#child?.stdout?.destroy();
  }

  /** Waits for the exit of a process that has nothing more to say; ends it after `killAfterMs`. */
  finish(): Promise<void> {
    this.#finishing ??= this.#exitsWithin(this.#options.killAfterMs).then(async (exited) => {
      if (!exited || this.#ending) await this.terminate();
    });
    return this.#finishing;
  }

  /** Ends what it has left behind, unless that may live on. */
  async endRest(): Promise<void> {
    if (!this.#options.keepChildren) await this.#tree?.endRest();
  }

  /** Waits for the rest of stderr; then lets go of all pipes, though others may hold their other ends. */
  async release(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child ?? {};
    stdin?.destroy();
    stdout?.destroy();
    if (stderr && !stderr.closed) {
      await within(new Promise((resolve) => stderr.once("close", resolve)), STDERR_MS);
      stderr.destroy();
    }
  }

  async #end(signal: SignalName): Promise<void> {
    await within(Promise.race([this.#printed, this.exited]), START_MS);
    this.#tree?.signal(signal);
    if (await this.#exitsWithin(this.#options.killAfterMs)) return;
    this.#wasKilled = true;
    if (this.#options.keepChildren) this.#tree?.signal("SIGKILL");
    else this.#tree?.kill();
    await this.#exitsWithin(KILL_MS);
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    await within(this.exited, ms);
    return this.#exit !== undefined;
  }

  #watchExit(): Promise<void> {
    const child = this.#child;
    const tree = this.#tree;
    if (!child || !tree) return Promise.resolve();
    const bond = endWithUs(tree);
    return new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#exit = { code, signal };
        tree.leaderExited();
        bond.forget();
        resolve();
      });
    });
  }
}

function spawned(options: ProcessOptions, mark: string): ChildProcess | SpawnError {
  const outer = options.env[MARK_VARIABLE];
  const own = `${mark}:process`;
  let executable = "linefeed";
  try {
    const command = options.command();
    executable = command.executable;
    return spawn(executable, command.args, {
      cwd: options.cwd,
      env: { ...options.env, [MARK_VARIABLE]: outer ? `${outer} ${own}` : own },
      stdio: "pipe",
      detached: true,
    });
  } catch (error) {
    return error instanceof SpawnError ? error : spawnError(executable, options.cwd, error);
  }
}

function startOf(child: ChildProcess, { cwd }: ProcessOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.on("error", (error) => reject(spawnError(child.spawnfile, cwd, error)));
  });
}

/** Waits for a promise, but not longer. */
async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, time]);
  clearTimeout(timer);
}
