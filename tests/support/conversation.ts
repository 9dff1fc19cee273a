// The command as another program talks to it: lines go in, events come out, and nobody waits for the end.
import { spawn, type ChildProcess } from "node:child_process";
import { onTestFinished } from "vitest";
import type { LinefeedEvent } from "../../src/protocol/event.ts";
import { CLI, cleanEnv, type CliOptions } from "./cli.ts";
import { parseLines } from "./lint.ts";

/** The command with both ends open. */
export class Program {
  readonly child: ChildProcess;
  readonly #chunks: Buffer[] = [];
  readonly #errors: Buffer[] = [];
  readonly #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #wake: (() => void)[] = [];

  constructor(args: readonly string[], { env, cwd }: Pick<CliOptions, "env" | "cwd"> = {}) {
    this.child = spawn(process.execPath, [CLI, ...args], { cwd, env: cleanEnv(env), stdio: "pipe" });
    onTestFinished(() => {
      this.child.kill("SIGKILL");
    });
    this.child.stdin?.on("error", () => undefined);
    this.child.stderr?.on("data", (chunk: Buffer) => this.#errors.push(chunk));
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#wakeAll();
    });
    this.#ended = new Promise((resolve) =>
      this.child.on("close", (code, signal) => {
        this.#wakeAll();
        resolve({ code, signal });
      }),
    );
  }

  get stdout(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get stderr(): string {
    return Buffer.concat(this.#errors).toString("utf8");
  }

  /** Writes a line as it is, or an object as one. */
  say(line: string | object): void {
    this.child.stdin?.write(typeof line === "string" ? line : `${JSON.stringify(line)}\n`);
  }

  /** Resolves with what is found in stdout, as soon as it is there. @param what for whoever waits in vain. */
  async untilFound<Found>(find: (stdout: Buffer) => Found | undefined, what: string): Promise<Found> {
    for (;;) {
      const found = find(this.stdout);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null)
        throw new Error(`the run ended without ${what}: ${this.stdout.toString("utf8")} ${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
      });
    }
  }

  /** Ends the input. */
  hangUp(): void {
    this.child.stdin?.end();
  }

  /** Resolves at the end of the process and its output. */
  end(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#ended;
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}

/** Prompts as JSON lines, answered by events. */
export class Conversation extends Program {
  constructor(args: readonly string[], options: Pick<CliOptions, "env"> = {}) {
    super([...args, "--json"], options);
  }

  get events(): LinefeedEvent[] {
    return parseLines(this.stdout);
  }

  /** Resolves when so many events of a type have come, whatever else comes. */
  async until(type: LinefeedEvent["type"], count = 1): Promise<void> {
    const begin = `{"type":"${type}",`;
    await this.untilFound(
      (stdout) => stdout.toString("latin1").split(begin).length > count || undefined,
      type,
    );
  }
}

/** A prompt as a line. */
export const user = (text: string): string => `${JSON.stringify({ type: "user", text })}\n`;
