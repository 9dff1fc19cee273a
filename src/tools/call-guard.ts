import { setTimeout as delay } from "node:timers/promises";
import type { Child } from "./child.ts";
import { rememberGroup } from "./process-groups.ts";
import { endProcesses, type Survivor } from "./processes.ts";
import type { ToolContext } from "./tool.ts";

/** How long the exit of a shell that was ended is waited for, in ms, before its output is given up. */
const EXIT_MS = 500;

/**
 * Ends a call's processes when its time is up or its signal aborts, whether or not anybody pulls its
 * output just then. Once the shell has exited by itself neither has any effect.
 */
export class CallGuard {
  readonly #child: Child;
  readonly #context: ToolContext;
  readonly #over = new AbortController();
  readonly #cancel = () => this.#end("cancelled");
  #endedBy: "timeout" | "cancelled" | undefined;
  #ending: Promise<void> | undefined;
  #left: Survivor[] = [];

  /** `timeoutMs` is counted by the context's clock, from now. */
  constructor(child: Child, command: string, timeoutMs: number, context: ToolContext) {
    this.#child = child;
    this.#context = context;
    const group = rememberGroup({
      mark: context.processMark,
      toolUseId: context.toolUseId,
      id: child.pid,
      command,
    });
    void this.#watchExit(group);
    void this.#watchTime(timeoutMs);
    context.signal.addEventListener("abort", this.#cancel, { once: true });
    if (context.signal.aborted) this.#cancel();
  }

  /** What ended the call, if it did not end by itself. */
  get endedBy(): "timeout" | "cancelled" | undefined {
    return this.#endedBy;
  }

  /** What the model must know about processes that could not be ended. */
  notes(): string[] {
    return this.#left.map(({ pid, command }) => `[Process ${pid} could not be ended: ${command}]`);
  }

  /** Call once when the output is over or given up; a call that was left early is ended now. */
  async close(finished: boolean): Promise<void> {
    if (!finished) this.#end("cancelled", true);
    await this.#ending;
    this.#release();
  }

  async #watchExit(group: { shellExited(): void }): Promise<void> {
    await this.#child.exited;
    group.shellExited();
    this.#release();
  }

  async #watchTime(timeoutMs: number): Promise<void> {
    await this.#context.clock.sleep(timeoutMs, this.#over.signal);
    if (!this.#over.signal.aborted) this.#end("timeout");
  }

  #end(by: "timeout" | "cancelled", whateverTheShellDid = false): void {
    if (this.#ending || (this.#child.exit && !whateverTheShellDid)) return;
    this.#endedBy = by;
    this.#ending = this.#endAll();
  }

  async #endAll(): Promise<void> {
    this.#left = await endProcesses(this.#context.processMark, this.#context.toolUseId);
    await Promise.race([this.#child.exited, delay(EXIT_MS, undefined, { ref: false })]);
    if (!this.#child.exit) this.#child.close();
  }

  #release(): void {
    this.#over.abort();
    this.#context.signal.removeEventListener("abort", this.#cancel);
  }
}
