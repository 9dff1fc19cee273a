import { resolve } from "node:path";
import { AskedProcess } from "../support/asked-process.ts";

/** A real process that may become the writer of a session. */
export class Starter extends AskedProcess {
  static override async start(): Promise<Starter> {
    const starter = new Starter("tests/sessions/starter.mjs", [resolve("dist/sessions")]);
    await starter.answer();
    return starter;
  }

  /** One that is the writer. */
  static async holding(folder: string): Promise<Starter> {
    const starter = await Starter.start();
    const answer = await starter.do("claim", { folder });
    if (answer !== "won") throw new Error(`it is no writer: ${String(answer)}`);
    return starter;
  }
}
