// The command as another program talks to it: lines go in, events come out, and nobody waits for the end.
import { spawn, type ChildProcess } from "node:child_process";
import { onTestFinished } from "vitest";
import type { LinefeedEvent } from "../../src/protocol/event.ts";
import { CLI, cleanEnv, type CliOptions } from "./cli.ts";
import { parseLines } from "./lint.ts";

export class Conversation {
  readonly child: ChildProcess;
  readonly #chunks: Buffer[] = [];
  readonly #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #text = "";
  #wake: (() => void)[] = [];

  constructor(args: readonly string[], { env }: Pick<CliOptions, "env"> = {}) {
    this.child = spawn(process.execPath, [CLI, ...args, "--json"], { env: cleanEnv(env), stdio: "pipe" });
    onTestFinished(() => {
      this.child.kill("SIGKILL");
    });
    this.child.stdin?.on("error", () => undefined);
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#text += chunk.toString("latin1");
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

  get events(): LinefeedEvent[] {
    return parseLines(this.stdout);
  }

  /** Writes a line as it is, or a prompt. */
  say(line: string | object): void {
    this.child.stdin?.write(typeof line === "string" ? line : `${JSON.stringify(line)}\n`);
  }

  /** Resolves when so many events of a type have come, whatever else comes. */
  async until(type: LinefeedEvent["type"], count = 1): Promise<void> {
    while (this.#text.split(`{"type":"${type}",`).length <= count) {
      if (this.child.exitCode !== null) throw new Error(`the run ended without ${type}: ${this.#text}`);
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

/** A prompt as a line. */
export const user = (text: string): string => `${JSON.stringify({ type: "user", text })}\n`;
