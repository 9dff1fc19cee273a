// Machines, as far as sessions go: each has a home of its own, and they have nothing in common but a store.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CLI, cleanEnv, runCli, temporaryFolder, type CliOptions, type CliRun } from "./cli.ts";

export class Machine {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;

  /** @param store the address that every command line here uses, in LINEFEED_STORE. */
  constructor(store: string, more: NodeJS.ProcessEnv = {}) {
    this.home = join(temporaryFolder(), "home");
    mkdirSync(this.home);
    this.env = { HOME: this.home, LINEFEED_STATE_DIR: "", LINEFEED_STORE: store, ...more };
  }

  /** Runs a command line to its end. */
  run(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
    return runCli(args, { ...options, env: { ...this.env, ...options.env } });
  }

  /** Starts a command line in a process group of its own, which ends with the test. */
  start(args: readonly string[]): Running {
    const env = cleanEnv(this.env);
    return new Running(spawn(process.execPath, [CLI, ...args], { env, detached: true }));
  }

  /** The log of a session, as its file has it here. */
  log(id: string): Buffer {
    return readFileSync(this.logPath(id));
  }

  logPath(id: string): string {
    return join(this.home, ".local", "state", "linefeed", "sessions", id, "events.jsonl");
  }

  /** Whatever lies in its home. */
  files(): string[] {
    return existsSync(this.home) ? readdirSync(this.home, { recursive: true, encoding: "utf8" }) : [];
  }
}

/** A process that is under way, and what it has said so far. */
export class Running {
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  #stdout = Buffer.alloc(0);
  #stderr = "";
  readonly #waiting = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.child = child;
    const wake = () => {
      for (const look of this.#waiting) look();
    };
    child.stdin?.end();
    child.stdout?.on("data", (chunk: Buffer) => {
      this.#stdout = Buffer.concat([this.#stdout, chunk]);
      wake();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString("utf8");
    });
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        resolve(code ?? signal ?? "");
        wake();
      });
    });
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
        process.kill(-child.pid, "SIGKILL");
      await this.ended;
    });
  }

  get stdout(): Buffer {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when it has said something. */
  async untilSays(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (this.#stdout.includes(text)) settle(resolve);
        else if (this.child.exitCode !== null || this.child.signalCode !== null)
          settle(() => reject(new Error(`it ended without saying ${text}: ${this.#stderr}`)));
      };
      const settle = (action: () => void) => {
        this.#waiting.delete(look);
        action();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The id of the session that it works on. */
  async sessionId(): Promise<string> {
    await this.untilSays('"type":"init"');
    const [, id = ""] = /"session_id":"([^"]+)"/.exec(this.#stdout.toString("utf8")) ?? [];
    return id;
  }
}
