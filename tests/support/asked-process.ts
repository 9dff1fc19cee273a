import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** A real process that does what it is asked to over its IPC channel, one thing after the other. Ends with the test. */
export class AskedProcess {
  readonly process: ChildProcess;
  readonly exited: Promise<unknown>;

  protected constructor(script: string, args: readonly string[]) {
    this.process = fork(script, args);
    this.exited = new Promise((done) => this.process.once("exit", done));
    onTestFinished(() => void this.process.kill("SIGKILL"));
  }

  /** @param script says `{ answer }` once when it is ready, and then once for each `{ action, … }` that it is told. */
  static async start(script: string, args: readonly string[]): Promise<AskedProcess> {
    const asked = new AskedProcess(script, args);
    await asked.answer();
    return asked;
  }

  do(action: string, options: Record<string, unknown> = {}): Promise<unknown> {
    const answer = this.answer();
    this.process.send({ action, ...options });
    return answer;
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  protected async answer(): Promise<unknown> {
    const [{ answer }] = (await once(this.process, "message")) as [{ answer: unknown }];
    return answer;
  }
}
