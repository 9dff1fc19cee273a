import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { onTestFinished } from "vitest";

/** A real process that may become the writer of a session. Ends with the test. */
export class Starter {
  readonly process: ChildProcess;
  readonly exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.process = child;
    this.exited = new Promise((done) => child.once("exit", done));
    onTestFinished(() => void child.kill("SIGKILL"));
  }

  static async start(): Promise<Starter> {
    const starter = new Starter(fork("tests/sessions/starter.mjs", [resolve("dist/sessions")]));
    await starter.#answer();
    return starter;
  }

  /** One that is the writer. */
  static async holding(folder: string): Promise<Starter> {
    const starter = await Starter.start();
    const answer = await starter.do("claim", { folder });
    if (answer !== "won") throw new Error(`it is no writer: ${String(answer)}`);
    return starter;
  }

  do(action: string, options: Record<string, unknown> = {}): Promise<unknown> {
    const answer = this.#answer();
    this.process.send({ action, ...options });
    return answer;
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  async #answer(): Promise<unknown> {
    const [{ answer }] = (await once(this.process, "message")) as [{ answer: unknown }];
    return answer;
  }
}
