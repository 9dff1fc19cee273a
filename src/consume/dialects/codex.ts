import type { CallEnd } from "./calls.ts";
import { CODEX_CALLS, codexCall, codexUsage, todoText } from "./codex-items.ts";
import type { Dialect, Handler } from "./dialect.ts";
import { failure, statusIn } from "./failure.ts";
import { needObject, needText, objectOf, textOf, wordOf, type Fields } from "./fields.ts";
import { OutputSoFar } from "./output-so-far.ts";
import type { RunBuilder } from "./run-builder.ts";

/** The model goes on while a command still runs: to the model its call has returned. */
const STILL_RUNNING: CallEnd = { status: "ok", content: "", truncated: true };
/** An error that is none yet: `Reconnecting... 1/5`. */
const RECONNECTING = /^Reconnecting\.{3} \d+\/(\d+)/;

type ItemHandler = (item: Fields, run: RunBuilder, phase: string) => void | false;

/**
 * Codex, `exec --json`: one turn. Items come whole, hence each as one delta. Codex does not say where a model call ends: a
 * message of ours is what comes up to the next call.
 */
export class CodexDialect implements Dialect {
  readonly #output = new OutputSoFar();
  /** Items that have begun as calls and are not completed. */
  readonly #begun = new Set<string>();
  /** The latest error; whether it ends the run is told later. */
  #error: string | null = null;

  readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["thread.started", (line, run) => this.#begin(line, run)],
    ["turn.started", (_, run) => this.#turn(run)],
    ["turn.completed", (line, run) => this.#completed(line, run)],
    ["turn.failed", (line, run) => this.#failed(line, run)],
    ["error", (line, run) => this.#trouble(needText(line, "message"), run)],
    ["item.plan.delta", (line, run) => run.text(needText(line, "delta"))],
    ["request_user_input", (_, run) => run.notice("request_user_input: asks its user", "warning")],
    ...this.#items("agent_message", (item, run, phase) => this.#said(item, "text", run, phase)),
    ...this.#items("plan", (item, run, phase) => this.#said(item, "text", run, phase)),
    ...this.#items("reasoning", (item, run, phase) => this.#said(item, "thinking", run, phase)),
    ...this.#items("todo_list", (item, run, phase) => {
      if (phase !== "item.completed") run.notice(`todo_list: ${todoText(item)}`);
    }),
    ...this.#items("error", (item, run) => run.notice(`error: ${needText(item, "message")}`, "warning")),
    ...CODEX_CALLS.flatMap((type) => this.#items(type, (item, run, phase) => this.#call(item, run, phase))),
  ]);

  nameOf(line: Fields, type: string): string {
    const item = textOf(objectOf(line, "item"), "type");
    return item !== null && /^item\.(started|updated|completed)$/.test(type) ? `item/${item}` : type;
  }

  sessionOf(line: Fields): string | null {
    return wordOf(line, "thread_id");
  }

  begins(line: Fields): boolean {
    return line["type"] === "thread.started";
  }

  /** An error after which nothing came is why nothing came. */
  end(run: RunBuilder): void {
    if (this.#error !== null) run.breakOff(failure(this.#error, { status: statusIn(this.#error) }));
  }

  #items(type: string, handler: ItemHandler): [string, Handler][] {
    return [
      [`item/${type}`, (line, run) => handler(needObject(line, "item"), run, textOf(line, "type") ?? "")],
    ];
  }

  #begin(line: Fields, run: RunBuilder): void {
    needText(line, "thread_id");
    run.begin();
  }

  #turn(run: RunBuilder): void {
    if (!run.isOpen) run.begin();
    if (run.hasTurn) run.endTurn();
    this.#error = null;
  }

  #said(item: Fields, kind: "text" | "thinking", run: RunBuilder, phase: string): void {
    const text = needText(item, "text");
    if (phase !== "item.completed") return;
    this.#error = null;
    if (run.hasOpenCalls) run.endStep(null, STILL_RUNNING);
    run.block(kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text });
  }

  #call(item: Fields, run: RunBuilder, phase: string): void {
    const id = needText(item, "id");
    const { name, input, end } = codexCall(item);
    this.#error = null;
    if (phase === "item.completed") {
      this.#output.forget(id);
      const hasBegun = this.#begun.delete(id);
      if (!hasBegun) run.call(id, name, input);
      const wasOpen = run.endCall(id, end(item));
      if (!wasOpen && hasBegun) run.notice(`${name} ${id}: has ended, after the model went on without it`);
      return;
    }
    this.#begun.add(id);
    run.call(id, name, input);
    run.output(id, this.#output.news(id, textOf(item, "aggregated_output") ?? ""));
  }

  /** An error that Codex may get over: it is told, and ends the run only if nothing comes behind it. */
  #trouble(message: string, run: RunBuilder): void {
    const [, retries] = RECONNECTING.exec(message) ?? [];
    const error = failure(message, { status: statusIn(message) });
    if (retries !== undefined) run.retry({ maxAttempts: Number(retries) + 1, delayMs: null, error });
    else if (message !== this.#error) run.notice(`error: ${message}`, "warning");
    this.#error = message;
  }

  #completed(line: Fields, run: RunBuilder): void {
    this.#error = null;
    run.record();
    run.end({ usage: codexUsage(line) });
  }

  #failed(line: Fields, run: RunBuilder): void {
    const message = needText(needObject(line, "error"), "message");
    this.#error = null;
    run.end({ error: failure(message, { status: statusIn(message) }) });
  }
}
